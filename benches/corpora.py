#!/usr/bin/env python3
"""Makes the corpora of docs/benchmarks.md from public packages.

usage: corpora.py FOLDER NAME...

  licenses      37,157 rules and texts of software licences, 37 MB    PyPI: licensedcode-data
  debian_desc   182,355 descriptions of packages, 19 languages, 94 MB Debian: Translation lists
  linux         164,959 files of Linux 6.1 and 6.12, 2.2 GB           Debian: linux-source-*

Writes FOLDER/NAME.jsonl, a line {"id": ..., "text": ...} for each text, and prints the number of
lines and the SHA-256 of the file. The licences are always the same: fbb9f367... The other packages
are updated by Debian, so their numbers change a little. Downloads stay in FOLDER/downloads. Each
text has a licence of its own: do not publish the corpora.

needs: Python 3.11 and pip; for debian_desc and linux also Debian with apt, after `apt-get update`
"""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

LICENSES = "licensedcode-data==32.1.0"
LANGUAGES = "en de fr it es ja zh_CN zh_TW zh hi ar ko ru uk pt_BR pl vi th he".split()
LARGEST = 1 << 20
APT_HELPER = "/usr/lib/apt/apt-helper"


def call(*command, folder=None):
    """Runs a command; returns what it prints."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"corpora.py: {' '.join(map(str, command))}: status {done.returncode}")
    return done.stdout


def only(folder, pattern, fetch):
    """The file in a folder with such a name, which `fetch` puts there."""
    if not list(folder.glob(pattern)):
        fetch()
    found = sorted(folder.glob(pattern))
    if not found:
        sys.exit(f"corpora.py: nothing was downloaded to {folder / pattern}")
    return found[0]


def licenses(downloads):
    """The texts below the headers of the rules and licences, in the order of their names."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", downloads]
    wheel = only(downloads, "licensedcode_data-*.whl", lambda: call(*pip, LICENSES))
    header = re.compile(r"---\n.*?\n---\n?", re.DOTALL)
    with zipfile.ZipFile(wheel) as packed:
        for name in sorted(packed.namelist()):
            *_, kind, file = ["", "", *name.split("/")]
            if (kind, Path(file).suffix) not in {("rules", ".RULE"), ("licenses", ".LICENSE")}:
                continue
            whole = packed.read(name).decode()
            if begins := header.match(whole):
                yield f"{kind}/{file}", whole[begins.end() :].strip("\n")


def debian_desc(downloads):
    """The descriptions, in the order of the lists; the same package may have several."""
    lists = downloads.resolve() / "lists"
    config = downloads.resolve() / "apt.conf"

    def update():
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        wanted = " ".join(f'"{language}";' for language in LANGUAGES)
        settings = ["#clear Acquire::Languages", f"Acquire::Languages {{ {wanted} }}"]
        settings.append(f'Dir::State::lists "{lists}"')
        config.write_text("".join(f"{setting};\n" for setting in settings))
        call("apt-get", "-c", config, "update", "-qq")

    only(lists, "*main*_Translation-*", update)
    for path in sorted(lists.glob("*main*_Translation-*")):
        language = path.name.rsplit("Translation-", 1)[1].removesuffix(".lz4").replace("%5f", "_")
        listed = call(APT_HELPER, "cat-file", path).decode("utf-8", "replace")
        for paragraph in listed.split("\n\n"):
            fields = dict(re.findall(r"^([\w-]+): (.*(?:\n .*)*)", paragraph, re.MULTILINE))
            digest = fields.pop("Description-md5", None)
            texts = [text for name, text in fields.items() if name.startswith("Description-")]
            if digest is None or not texts or "Package" not in fields:
                continue
            # A dot alone stands for an empty line.
            text = "\n".join("" if line == " ." else line for line in texts[0].split("\n"))
            text = text.replace("\n ", "\n").replace("\ufffd", "?")
            yield f"{language}/{fields['Package']}/{digest[:8]}", text


def linux(downloads):
    """The files of both versions that are UTF-8 of at most a megabyte."""
    for version in ("6.1", "6.12"):
        package = f"linux-source-{version}"
        fetch = ["apt-get", "download", "-qq", package]
        deb = only(downloads, f"{package}_*.deb", lambda: call(*fetch, folder=downloads))
        folder = downloads / f"linux-{version}"
        pattern = "usr/src/linux-source-*.tar.xz"
        unpacked = only(folder, pattern, lambda: call("dpkg", "-x", deb, folder))
        with tarfile.open(unpacked) as tar:
            for member in tar:
                if not member.isfile() or member.size > LARGEST:
                    continue
                content = tar.extractfile(member).read()
                try:
                    text = content.decode()
                except UnicodeDecodeError:
                    continue
                if "\0" not in text:
                    yield f"{version}/{member.name.partition('/')[2]}", text


CORPORA = {made.__name__: made for made in (licenses, debian_desc, linux)}


def write(path, texts):
    """Writes texts that are not blank, each id once."""
    seen, digest = set(), hashlib.sha256()
    part = path.with_suffix(".part")
    with part.open("wb") as out:
        for id, text in texts:
            if id in seen or not text.strip():
                continue
            seen.add(id)
            line = json.dumps({"id": id, "text": text}, ensure_ascii=False).encode() + b"\n"
            digest.update(line)
            out.write(line)
    part.replace(path)
    print(f"{path}: {len(seen):,} texts, {path.stat().st_size:,} bytes, {digest.hexdigest()}")


def main():
    if len(sys.argv) < 3 or not set(sys.argv[2:]) <= set(CORPORA):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    downloads = folder / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:]:
        write(folder / f"{name}.jsonl", CORPORA[name](downloads))


if __name__ == "__main__":
    main()
