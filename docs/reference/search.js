// SPDX-License-Identifier: Apache-2.0
// The search of every page: names first, then what operators compute. On the list of all it filters the table as well.
"use strict";
const field = document.getElementById("search");
const found = document.getElementById("found");
const table = document.querySelectorAll("table.operators tbody tr");
let chosen = -1;

// 0 for the name itself; larger for what is further from it; Infinity for nothing in common.
function distance([name, , names, about], words) {
  const own = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  const all = names.toLowerCase(), doc = about.toLowerCase();
  if (own === words[0]) return 0;
  let sum = own.length / 100;
  for (const word of words) {
    if (own.startsWith(word)) sum += 1;
    else if (all.includes(word)) sum += 2;
    else if (doc.includes(word)) sum += 4;
    else return Infinity;
  }
  return sum;
}

function choose(next) {
  const items = found.children;
  if (items.length === 0) return;
  chosen = (next + items.length) % items.length;
  for (let i = 0; i < items.length; ++i) items[i].setAttribute("aria-selected", i === chosen);
  items[chosen].scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", items[chosen].id);
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const near = OPERATORS.map((one) => [words.length ? distance(one, words) : Infinity, one]).filter(([d]) => d < Infinity);
  near.sort((a, b) => a[0] - b[0]);
  found.replaceChildren(...near.slice(0, 12).map(([, [name, page, , about]], i) => {
    const item = document.createElement("li");
    item.id = `found${i}`;
    item.setAttribute("role", "option");
    const link = item.appendChild(document.createElement("a"));
    link.href = page;
    link.tabIndex = -1;
    link.appendChild(document.createElement("code")).textContent = name;
    link.appendChild(document.createElement("span")).textContent = about;
    return item;
  }));
  found.hidden = near.length === 0;
  field.setAttribute("aria-expanded", String(!found.hidden));
  field.removeAttribute("aria-activedescendant");
  chosen = -1;
  if (table.length) {
    const pages = new Set(near.map(([, one]) => one[1]));
    for (const row of table) row.hidden = words.length > 0 && !pages.has(row.querySelector("a").getAttribute("href"));
    document.getElementById("none").hidden = words.length === 0 || near.length > 0;
    found.hidden = true;
    field.setAttribute("aria-expanded", "false");
  }
}

field.addEventListener("input", search);
field.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") choose(chosen + 1);
  else if (event.key === "ArrowUp") choose(chosen - 1);
  else if (event.key === "Escape") { field.value = ""; search(); }
  else if (event.key === "Enter" && found.children.length) location.href = found.children[Math.max(chosen, 0)].querySelector("a").href;
  else return;
  event.preventDefault();
});
document.addEventListener("click", (event) => { if (!event.target.closest("form")) found.hidden = true; });
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); }
});
