"""The peers: what each is, what it is compared with, and how it is installed."""
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: A virtual environment, which also gets the commands that cargo installs.
HOME = ROOT / "target" / "peers"
PYTHON = HOME / "bin" / "python"

CORES = os.cpu_count() or 1
#: Values of a signature, where a peer lets one choose.
PERMS = 128

# The configurations of twindex, by the name they have in the tables.
DEFAULT = "defaults"
WORDS = "word:3"
CHARS = f"char:5, {PERMS} lanes"
SHORT_CHARS = f"char:3, {PERMS} lanes"
SETTINGS = {
    WORDS: ["--shingle", "word:3"],
    DEFAULT: [],
    CHARS: ["--shingle", "char:5", "--lanes", str(PERMS)],
    SHORT_CHARS: ["--shingle", "char:3", "--lanes", str(PERMS)],
}


class Problem(Exception):
    """What a person can do something about: one line."""


@dataclass(frozen=True)
class Peer:
    """A library or command beside twindex, with the version that is measured."""

    package: str
    version: str
    #: What Python imports; nothing for a command that cargo installs.
    module: str
    #: Whether its index is on disk.
    disk: bool
    cores: int
    shingles: str
    #: The configurations of twindex that it is compared with.
    likes: tuple
    #: What tells two peers of one package apart.
    variant: str = ""
    #: Variables that its process gets, or does not get if they are None.
    environment: dict = field(default_factory=dict)

    @property
    def title(self):
        name = self.package.removeprefix("py").removeprefix("marin-")
        return f"{name} {self.version}{self.variant and ', ' + self.variant}"


PEERS = {
    "lance": Peer(
        "pylance", "14.0.2", "lance", True, CORES, "3 words", (WORDS, DEFAULT),
        environment={"LANCE_CPU_THREADS": str(CORES)},
    ),
    # Lance leaves two cores to reading unless told otherwise.
    "lance-default": Peer(
        "pylance", "14.0.2", "lance", True, max(1, CORES - 2), "3 words", (WORDS, DEFAULT),
        "as it comes", {"LANCE_CPU_THREADS": None},
    ),
    "incrededup": Peer("incrededup", "0.3.1", "", True, 1, "3 characters", (SHORT_CHARS,)),
    "rensa-flat": Peer(
        "rensa", "0.5.0", "rensa", False, CORES, "5 characters", (CHARS,), "flat hashes"
    ),
    "rensa-rho": Peer(
        "rensa", "0.5.0", "rensa", False, CORES, "5 characters", (CHARS,), "flat hashes, a sample"
    ),
    "rensa": Peer("rensa", "0.5.0", "rensa", False, 1, "5 characters", (CHARS,)),
    "gaoya": Peer("gaoya", "0.2.2", "gaoya", False, CORES, "5 characters", (CHARS,)),
    "dupekit": Peer(
        "marin-dupekit", "0.1.1", "dupekit", False, CORES, "5 characters", (CHARS,)
    ),
    "datasketch": Peer("datasketch", "2.0.0", "datasketch", False, 1, "5 characters", (CHARS,)),
}
#: What the drivers use besides, by module.
BESIDES = {"lance": ["pyarrow"], "rensa": ["numpy"], "dupekit": ["pyarrow"]}


def say(text):
    print(text, file=sys.stderr, flush=True)


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def done(command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def environment():
    """Makes the virtual environment if there is none that works."""

    def works():
        return PYTHON.exists() and done([PYTHON, "-c", "import pip"]).returncode == 0

    if works():
        return
    say(f"creating {HOME.relative_to(ROOT)}")
    made = done([sys.executable, "-m", "venv", "--clear", HOME])
    if made.returncode != 0 or not works():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise Problem(
            f"{sys.executable} cannot make a virtual environment with pip: "
            f"{last_line(made.stderr or made.stdout)}; if ensurepip is missing, install "
            f"python{version}-venv (Debian, Ubuntu) or a Python that has it"
        )


def install(name):
    """Brings the version of a peer that is measured, unless it is there."""
    peer = PEERS[name]
    if not peer.module:
        install_command(peer)
        return
    wanted = f"{peer.package}=={peer.version}"
    modules = [peer.module, *BESIDES.get(peer.module, [])]
    check = [
        PYTHON,
        "-c",
        f"import importlib.metadata as m, {', '.join(modules)}; "
        f"assert m.version({peer.package!r}) == {peer.version!r}, 'another version'",
    ]
    if done(check).returncode == 0:
        return
    say(f"installing {wanted}")
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted]
    ran = done([*pip, *BESIDES.get(peer.module, [])])
    if ran.returncode != 0:
        raise Problem(f"pip cannot install {wanted}: {last_line(ran.stderr)}")
    checked = done(check)
    if checked.returncode != 0:
        raise Problem(f"{wanted} is installed but cannot be used: {last_line(checked.stderr)}")


def command_of(peer):
    return HOME / "bin" / peer.package


def install_command(peer):
    command = command_of(peer)
    if command.exists() and done([command, "--version"]).stdout.split()[-1:] == [peer.version]:
        return
    say(f"building {peer.package} {peer.version}")
    cargo = ["cargo", "install", peer.package, "--version", peer.version, "--locked"]
    cargo += ["--root", HOME, "--force"]
    try:
        ran = done(cargo, env={**os.environ, "CARGO_TARGET_DIR": str(HOME / "build")})
    except FileNotFoundError:
        raise Problem("there is no cargo")
    if ran.returncode != 0:
        raise Problem(f"cargo cannot install {peer.package}: {last_line(ran.stderr)}")
