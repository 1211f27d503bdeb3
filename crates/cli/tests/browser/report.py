"""Opens reports in headless Chromium: they render, sort, filter, expand, and stay text.

Needs `chromium` and `chromedriver`, as Debian's packages `chromium` and `chromium-driver` install
them. Without them it says so and does nothing. The command is the argument:

    python3 crates/cli/tests/browser/report.py target/debug/twindex
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
WIDTHS = (1400, 720, 400, 320)

# The width in pixels of A4 paper without its margins.
PAPER = 718

# The page itself is not to depend on the network, and neither is the test.
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# The ratio of contrast of WCAG 2.1, of each kind of text with what is behind it.
CONTRAST = """
const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
const over = (front, back) => {
  const alpha = front.length > 3 ? front[3] : 1;
  return [0, 1, 2].map((i) => front[i] * alpha + back[i] * (1 - alpha));
};
const light = (color) => {
  const [r, g, b] = color.map((c) => {
    const s = c / 255;
    return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  const above = element.parentElement ? behind(element.parentElement) : [255, 255, 255];
  return over(rgb(getComputedStyle(element).backgroundColor), above);
};
const ratios = {};
const kinds = ["body", "h1", ".note", "a", "del", "ins", "pre", ".fold", "dt", ".h9", ".preview"];
for (const kind of kinds) {
  const element = document.querySelector(kind);
  if (element) {
    const front = light(over(rgb(getComputedStyle(element).color), behind(element)));
    const back = light(behind(element));
    ratios[kind] = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
  }
}
// Parts of a chart need less.
for (const bar of document.querySelectorAll("svg .bar")) {
  const style = getComputedStyle(bar);
  const edge = style.stroke === "none" ? style.fill : style.stroke;
  const [front, back] = [light(rgb(edge)), light(behind(document.body))];
  const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
  ratios[bar.getAttribute("class")] = ratio * 4.5 / 3;
}
return ratios;
"""

# What is wrong with the words of the charts: they meet, are cut off, or are too small to read.
CHARTS = """
const wrong = [];
for (const svg of document.querySelectorAll("svg")) {
  const whole = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")];
  const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
  for (const [name, box] of boxes) {
    if (box.left < whole.left - 0.5 || box.right > whole.right + 0.5) {
      wrong.push(`${name} is cut off`);
    }
  }
  const below = boxes.filter((_, i) => texts[i].classList.contains("x"));
  below.sort((a, b) => a[1].left - b[1].left);
  const marks = below.filter(([_, box]) => Math.abs(box.top - below[0][1].top) < 2);
  marks.slice(1).forEach(([name, box], i) => {
    if (box.left <= marks[i][1].right) {
      wrong.push(`${name} meets ${marks[i][0]}`);
    }
  });
  const size = parseFloat(getComputedStyle(texts[0]).fontSize) * whole.width / 900;
  if (size < 9.9) {
    wrong.push(`letters of ${size} pixels`);
  }
}
return wrong;
"""


class Browser:
    """A session of ChromeDriver, by its HTTP interface."""

    def __init__(self, folder):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True
        )
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.port = int(line.split("port")[1].strip(" .\n"))
                break
        options = {"args": [*OPTIONS, f"--user-data-dir={folder}/profile"]}
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        self.session = ""
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{made['sessionId']}"

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.port}{self.session}{path}"
        request = urllib.request.Request(url, method=method, data=data)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def run(self, script):
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def command(self, name, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, path):
        self.call("POST", "/url", {"url": path.resolve().as_uri()})

    def element(self, selector):
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        return next(iter(found.values()))

    def click(self, selector):
        self.call("POST", f"/element/{self.element(selector)}/click", {})

    def type(self, selector, text):
        self.call("POST", f"/element/{self.element(selector)}/value", {"text": text})

    def wide(self, width):
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=1200,
            deviceScaleFactor=1,
            mobile=False,
        )

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(20)


def records():
    """Records of many sources, with what a page could stumble over."""
    for number, record in enumerate(plain_records()):
        name = f"a_rather_long_name_of_a_part_of_the_crawl/part-{number % 16:05}.jsonl"
        yield {**record, "site": name}


def plain_records():
    common = "it was the best of times, it was the worst of times, it was the age of wisdom, "
    for number in range(400):
        group = number // 4
        own = f"this is text {group} of its own, which shares nothing with number {group * 7919}. "
        # The longer the end, the less similar.
        end = f"copy {number} " * (1 + 2 * (number % 4)) if number % 4 else ""
        yield {"id": f"doc-{number}", "text": own * 4 + end}
    for number in range(3):
        text = f"{HOSTILE} {common * 3} {HOSTILE} \u202e reversed {number}"
        yield {"id": f"{HOSTILE}\u202e{number}", "text": text}
    for number in range(2):
        yield {"id": f"long-{number}", "text": "a very long line of text, " * 400_000 + str(number)}


def check_page(browser, path):
    # What the browser itself has loaded before is of no interest.
    browser.call("POST", "/url", {"url": "about:blank"})
    browser.call("POST", "/se/log", {"type": "performance"})
    browser.open(path)
    assert path.stat().st_size < 5_000_000, path.stat().st_size
    requested = [
        message["params"]["request"]["url"]
        for entry in browser.call("POST", "/se/log", {"type": "performance"})
        if (message := json.loads(entry["message"])["message"])["method"]
        == "Network.requestWillBeSent"
    ]
    assert requested == [path.resolve().as_uri()], requested
    assert browser.run("return document.title") != "owned"
    assert browser.run("return document.scripts.length") == 1
    assert browser.run("return document.images.length") == 0
    unnamed = browser.run(
        "return [...document.querySelectorAll('svg:not([aria-label]), th:not([scope]),"
        " html:not([lang]), section:not([aria-labelledby])')].length"
    )
    assert unnamed == 0
    assert browser.run(
        "return [...document.querySelectorAll('input, select')].every((one) =>"
        " one.labels.length === 1)"
    )
    levels = browser.run(
        "return [...document.querySelectorAll('h1, h2, h3, h4, h5')].map((h) => +h.tagName[1])"
    )
    assert levels[0] == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:])), levels
    # No step of a filled bar is empty, and the style is applied.
    assert browser.run("return document.querySelectorAll('svg rect.bar').length") > 3
    assert (
        browser.run("return getComputedStyle(document.querySelector('.numbers')).display") == "grid"
    )
    assert browser.run("return document.querySelectorAll('details.counts td').length") > 3
    browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
    over = (
        "const root = document.documentElement; return root.scrollWidth - root.clientWidth"
    )
    for width in WIDTHS:
        browser.wide(width)
        much = browser.run(over)
        assert much <= 0, f"{path.name} is {much} pixels too wide at {width}"
        wrong = browser.run(CHARTS)
        assert wrong == [], f"{path.name} at {width}: {wrong}"
        narrowest = browser.run(
            "return Math.min(1000, ...[...document.querySelectorAll('.cluster td.preview')]"
            ".map((one) => one.getBoundingClientRect().width))"
        )
        assert narrowest > 150, f"{path.name}: a preview of {narrowest} pixels at {width}"
    browser.wide(PAPER)
    browser.command("Emulation.setEmulatedMedia", media="print")
    cut = browser.run(
        "return [...document.querySelectorAll('.wide')]"
        ".filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.innerText)"
    )
    assert cut == [] and browser.run(over) <= 0, f"{path.name}: paper cuts off {cut}"
    browser.command("Emulation.setEmulatedMedia", media="")
    browser.run("for (const one of document.querySelectorAll('details')) one.open = false")


def check_work(browser):
    """Sorting, filtering and expanding, by mouse and by keyboard."""
    browser.wide(1400)
    assert browser.run("return document.querySelectorAll('.tools:not([hidden])').length") == 2
    browser.click(".cluster summary")
    is_open = "return document.querySelector('.cluster').open"
    assert browser.run(is_open)
    browser.type(".cluster summary", "\ue007")
    assert not browser.run(is_open), "the enter key closes it again"
    browser.click("[data-open]")
    all_open = "return [...document.querySelectorAll('.cluster')].every((one) => one.open)"
    assert browser.run(all_open)
    label = "return document.querySelector('[data-open]').textContent"
    assert browser.run(label) == "Close all"

    similarities = (
        "return [...document.querySelector('.cluster table').tBodies[0].rows]"
        ".map((row) => Number(row.cells[1].textContent))"
    )
    before = browser.run(similarities)
    assert len(before) > 1
    for order, expected in [("descending", sorted(before)[::-1]), ("ascending", sorted(before))]:
        browser.click(".cluster th.number button")
        assert browser.run(similarities) == expected
        head = "return document.querySelector('.cluster th.number').getAttribute('aria-sort')"
        assert browser.run(head) == order

    shown = "return document.querySelectorAll('.pair:not([hidden])').length"
    everything = browser.run(shown)
    browser.type("[data-filter='.pair']", "doc-")
    some = browser.run(shown)
    assert 0 < some < everything, (some, everything)
    count = browser.run("return document.querySelector('[data-count=\".pair\"]').textContent")
    assert count == f"{some} of {everything}"
    browser.type("[data-filter='.pair']", " is nowhere")
    assert browser.run(shown) == 0
    browser.type("[data-filter='.pair']", "\ue003" * 30)
    browser.run(
        "const select = document.querySelector('select'); select.selectedIndex = 1;"
        "select.dispatchEvent(new Event('change'))"
    )
    assert 0 < browser.run(shown) < everything
    browser.call("POST", "/url", {"url": "data:text/html,elsewhere"})
    browser.call("POST", "/back", {})
    assert browser.run("return document.querySelector('select').value") != ""
    assert 0 < browser.run(shown) < everything, "what Back restores is applied"

    hostile = browser.run("return document.body.textContent.includes('<script>document.title=')")
    assert hostile, "it is shown as text"
    assert not browser.run("return document.body.textContent.includes('\\u202e')")


def check_filter(browser, path):
    """It finds what others wrote, wherever it is, and nothing else."""
    browser.open(path)
    pairs, clusters = "[data-filter='.pair']", "[data-filter='.cluster']"
    shown = "return document.querySelectorAll('{}:not([hidden])').length"
    clear = "\ue003" * 60
    for field, selector, words in [
        (pairs, ".pair", ["removed", "similarity", "is in the other text", "equal characters"]),
        (clusters, ".cluster", ["similarity to the kept", " documents"]),
    ]:
        for word in words:
            browser.type(field, word)
            assert browser.run(shown.format(selector)) == 0, word
            browser.type(field, clear)
    member = browser.run("return document.querySelector('.cluster td.id bdi').textContent")
    is_open = "return document.querySelector('.cluster:not([hidden])').open"
    browser.type(clusters, member)
    assert browser.run(shown.format(".cluster")) >= 1 and browser.run(is_open), member
    browser.type(clusters, clear)
    assert not browser.run("return document.querySelectorAll('.cluster[open]').length")

    browser.type(pairs, "doc-")
    count = browser.run("return document.querySelector('[data-count=\".pair\"]').textContent")
    browser.command("Emulation.setEmulatedMedia", media="print")
    said = "return [...document.querySelectorAll('.filtered')].map((one) => one.innerText)"
    assert browser.run(said) == ["", f"filtered: {count} pairs"]
    browser.command("Emulation.setEmulatedMedia", media="")
    browser.type(pairs, clear)
    assert browser.run("return document.querySelectorAll('.pair[hidden]').length") == 0


def check_looks(browser):
    """Contrast in both modes, and paper."""
    for mode in ("light", "dark"):
        scheme = {"name": "prefers-color-scheme", "value": mode}
        browser.command("Emulation.setEmulatedMedia", features=[scheme])
        for kind, ratio in browser.run(CONTRAST).items():
            assert ratio >= 4.5, f"{kind} has a contrast of {ratio:.1f} in {mode} mode"
    browser.run("for (const one of document.querySelectorAll('details')) one.open = false")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run("return [...document.querySelectorAll('details')].every((one) => one.open)")
    printed = browser.command("Page.printToPDF", printBackground=True)
    assert len(printed["data"]) > 10_000
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run("return document.querySelectorAll('details[open]').length") == 0
    assert browser.run("return document.querySelector('[data-open]').textContent") == "Open all"
    browser.command("Emulation.setEmulatedMedia", media="print")
    assert browser.run("return getComputedStyle(document.querySelector('nav')).display") == "none"
    browser.command("Emulation.setEmulatedMedia", media="", features=[])


def main(command):
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        print("skipped: no chromium and chromedriver; Debian has chromium and chromium-driver")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "a.jsonl").open("w") as a, (folder / "b.jsonl").open("w") as b:
            for number, record in enumerate(records()):
                print(json.dumps(record), file=(a, b)[number % 3 == 0])
            print("no json", file=b)

        def run(*words, status=0):
            done = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True)
            assert done.returncode == status, done.stderr

        inputs = ["a.jsonl", "b.jsonl"]
        run(
            "dedup",
            "d.twx",
            *inputs,
            "-o",
            "kept.jsonl",
            "--report",
            "dedup.html",
            "--removed",
            "removed.jsonl",
            "--group-field",
            "site",
            "--max-record",
            "64M",
            status=2,
        )
        run("add", "i.twx", *inputs, "--store-text", "--max-record", "64M", status=2)
        run("clusters", "i.twx", "--report", "clusters.html")
        run("report", "i.twx", "-o", "index.html", "--threshold", "0.9")
        browser = Browser(folder)
        try:
            started = time.time()
            for page in ("index.html", "clusters.html", "dedup.html"):
                check_page(browser, folder / page)
            check_work(browser)
            check_filter(browser, folder / "dedup.html")
            check_looks(browser)
            said = browser.call("POST", "/se/log", {"type": "browser"})
            assert said == [], said
            print(f"ok: 3 reports in {time.time() - started:.1f} s")
        finally:
            browser.close()


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
