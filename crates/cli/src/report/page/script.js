"use strict";
// Sorts tables, filters lists and opens details. The page is complete without it.
for (const tools of document.querySelectorAll(".tools")) {
  tools.hidden = false;
}

function countShown(selector) {
  const all = document.querySelectorAll(selector);
  const shown = [...all].filter((one) => !one.hidden).length;
  for (const output of document.querySelectorAll(`[data-count="${selector}"]`)) {
    output.textContent = `${shown} of ${all.length}`;
  }
}

function filter(section) {
  const input = section.querySelector("[data-filter]");
  const select = section.querySelector("[data-filter-by]");
  const wanted = input.value.trim().toLowerCase();
  const selector = input.dataset.filter;
  for (const one of section.querySelectorAll(selector)) {
    one.hidden = !one.textContent.toLowerCase().includes(wanted);
  }
  for (const group of section.querySelectorAll(".stratum")) {
    const other = select.value && group.dataset[select.dataset.filterBy] !== select.value;
    for (const one of group.querySelectorAll(selector)) {
      one.hidden ||= Boolean(other);
    }
    group.hidden = !group.querySelector(`${selector}:not([hidden])`);
  }
  countShown(selector);
}

for (const input of document.querySelectorAll("[data-filter]")) {
  const section = input.closest("section");
  input.addEventListener("input", () => filter(section));
  const select = section.querySelector("[data-filter-by]");
  if (select) {
    select.addEventListener("change", () => filter(section));
  }
  countShown(input.dataset.filter);
}

for (const button of document.querySelectorAll("[data-open]")) {
  button.addEventListener("click", () => {
    const all = [...document.querySelectorAll(button.dataset.open)];
    const open = all.some((one) => !one.open);
    for (const one of all) {
      one.open = open;
    }
    button.textContent = open ? "Close all" : "Open all";
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

addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details")) {
    one.open = true;
  }
});
