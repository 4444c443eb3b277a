// The list of searches: links, so that the keyboard and the back button work.

import { element, made } from "./page.js";
import { count, mood, standing } from "./words.js";

/** The name in the address, if there is one. */
export function chosen() {
  return new URLSearchParams(location.hash.slice(1)).get("name");
}

function address(name) {
  return `#${new URLSearchParams({ name })}`;
}

/** Show the list; links stay the same elements, so that the focus stays where it is. */
export function listSearches(searches, current) {
  const list = element("searches");
  element("searches-empty").hidden = searches.length > 0;
  searches.forEach((search, index) => {
    let item = list.children[index];
    if (item === undefined) {
      item = made("li");
      const link = made("a");
      link.append(made("span", "", { class: "title" }), made("span", "", { class: "detail" }));
      item.append(link);
      list.append(item);
    }
    const link = item.firstChild;
    link.href = address(search.name);
    link.dataset.mood = mood(search);
    if (search.name === current) {
      link.setAttribute("aria-current", "true");
    } else {
      link.removeAttribute("aria-current");
    }
    const texts = [search.name, `${standing(search)} · ${count(search.pulls ?? 0)} evaluations`];
    [...link.children].forEach((part, place) => {
      if (part.textContent !== texts[place]) {
        part.textContent = texts[place];
      }
    });
  });
  while (list.children.length > searches.length) {
    list.lastChild.remove();
  }
}
