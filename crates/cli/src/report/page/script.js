"use strict";
// Sorts tables, filters lists and opens details. The page is complete without it.
for (const tools of document.querySelectorAll(".tools")) {
  tools.hidden = false;
}

function countShown(section, selector) {
  const all = section.querySelectorAll(selector);
  const shown = [...all].filter((one) => !one.hidden).length;
  const count = `${shown} of ${all.length}`;
  section.querySelector("[data-count]").textContent = count;
  // Paper shows no tools, so it says what they left out.
  const filtered = section.querySelector("[data-filtered]");
  const isWhole = shown === all.length;
  filtered.textContent = isWhole ? "" : `filtered: ${count} ${filtered.dataset.filtered}`;
}

function normalized(text) {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}

// What others wrote: whole ids, previews and texts, without the words of the page between them.
function texts(element) {
  const part = (node) => (node.classList?.contains("fold") ? "\n" : node.textContent);
  const parts = (one) => one.title || [...one.childNodes].map(part).join("");
  return [...element.querySelectorAll("bdi, pre")].map((one) => normalized(parts(one)));
}

function contains(element, wanted) {
  return wanted === "" || texts(element).some((text) => text.includes(wanted));
}

// The clusters that a filter has opened, because a member has what is wanted.
const opened = new Set();

function openForFilter(one, wanted) {
  const isInside = !one.hidden && !contains(one.querySelector("summary"), wanted);
  if (isInside && !one.open) {
    one.open = true;
    opened.add(one);
  } else if (!isInside && opened.delete(one)) {
    one.open = false;
  }
}

function filter(section) {
  const input = section.querySelector("[data-filter]");
  const select = section.querySelector("[data-filter-by]");
  const wanted = normalized(input.value);
  const selector = input.dataset.filter;
  for (const one of section.querySelectorAll(selector)) {
    one.hidden = !contains(one, wanted);
    if (one.matches("details")) {
      openForFilter(one, wanted);
    }
  }
  for (const group of section.querySelectorAll(".stratum")) {
    const other = select.value && group.dataset[select.dataset.filterBy] !== select.value;
    for (const one of group.querySelectorAll(selector)) {
      one.hidden ||= Boolean(other);
    }
    group.hidden = !group.querySelector(`${selector}:not([hidden])`);
  }
  countShown(section, selector);
}

for (const input of document.querySelectorAll("[data-filter]")) {
  const section = input.closest("section");
  input.addEventListener("input", () => filter(section));
  const select = section.querySelector("[data-filter-by]");
  if (select) {
    select.addEventListener("change", () => filter(section));
  }
  // A browser that goes back fills the fields again after this.
  addEventListener("pageshow", () => filter(section));
  countShown(section, input.dataset.filter);
}

for (const button of document.querySelectorAll("[data-open]")) {
  const label = () => {
    const all = [...document.querySelectorAll(button.dataset.open)];
    button.textContent = all.every((one) => one.open) ? "Close all" : "Open all";
  };
  document.addEventListener("toggle", label, true);
  button.addEventListener("click", () => {
    const all = [...document.querySelectorAll(button.dataset.open)];
    const open = all.some((one) => !one.open);
    for (const one of all) {
      one.open = open;
    }
    label();
  });
}

function key(row, column) {
  const text = row.cells[column].textContent.trim();
  const number = Number(text.replace(/[,%\s]/g, ""));
  return text !== "" && !Number.isNaN(number) ? number : text;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    return a - b;
  }
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      // Numbers begin with the greatest, words with the first.
      const first = head.classList.contains("number") ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => sign * compare(key(a, column), key(b, column)));
      table.tBodies[0].append(...rows);
    });
  });
}

// Paper shows everything. What was closed is closed again.
const openedForPaper = new Set();
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details:not([open])")) {
    one.open = true;
    openedForPaper.add(one);
  }
});
addEventListener("afterprint", () => {
  for (const one of openedForPaper) {
    one.open = false;
  }
  openedForPaper.clear();
});
