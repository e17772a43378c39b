// Finds entries of the contents by name. Without this script only the search is missing.
(() => {
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const lists = [...document.querySelectorAll("nav ul")];
  const items = [...document.querySelectorAll("nav li")];
  const shown = () => items.filter((item) => !item.hidden).map((item) => item.firstElementChild);

  const filter = () => {
    const wanted = find.value.trim().toLowerCase();
    for (const item of items) {
      const words = item.textContent.toLowerCase() + " " + item.dataset.words;
      item.hidden = !words.includes(wanted);
    }
    for (const list of lists) {
      list.previousElementSibling.hidden = list.hidden = [...list.children].every((item) => item.hidden);
    }
    const count = shown().length;
    found.textContent = wanted === "" ? "" : count === 1 ? "1 entry" : `${count} entries`;
  };

  find.addEventListener("input", filter);
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      shown()[0]?.click();
    } else if (event.key === "Escape") {
      find.value = "";
      filter();
      find.blur();
    } else if (event.key === "ArrowDown") {
      shown()[0]?.focus();
      event.preventDefault();
    }
  });
  document.querySelector("nav").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = shown();
    const at = links.indexOf(document.activeElement);
    if (step && at >= 0) {
      (links[at + step] ?? find).focus();
      event.preventDefault();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && document.activeElement !== find) {
      find.focus();
      event.preventDefault();
    }
  });
  // The target of the address can be inside a folded element.
  const unfold = () => {
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("details")?.setAttribute("open", "");
  };
  addEventListener("hashchange", unfold);
  unfold();
  // A printed page shows all folded elements.
  addEventListener("beforeprint", () => document.querySelectorAll("main details").forEach((part) => { part.open = true; }));
})();
