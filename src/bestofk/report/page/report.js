// Copy buttons; open folded parts for links, for printing and all at once; what if.
(() => {
  "use strict";

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // A page that is opened from a file may have no clipboard.
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "copied-text";
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }

  document.documentElement.classList.add("scripted");
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const label = button.textContent;
      const source = document.getElementById(button.dataset.copy);
      const done = await copy(source.textContent);
      button.textContent = done ? "Copied" : "Select the text below and copy it";
      if (!done) source.closest("details").open = true;
      setTimeout(() => { button.textContent = label; }, 1500);
    });
  }

  const folds = [...document.querySelectorAll("details.fold")];

  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target?.querySelector(":scope > details.fold");
    for (let node = fold ?? target; node; node = node.parentElement) {
      if (node.matches("details")) node.open = true;
    }
  }
  window.addEventListener("hashchange", reveal);
  for (const link of document.querySelectorAll(".links a")) {
    link.addEventListener("click", () => setTimeout(reveal));
  }
  reveal();

  const all = document.getElementById("open-all");
  all.hidden = false;
  all.addEventListener("click", () => {
    const open = all.getAttribute("aria-pressed") !== "true";
    for (const node of folds) node.open = open;
    all.setAttribute("aria-pressed", String(open));
    all.textContent = open ? "Close all parts" : "Open all parts";
  });

  // What if: the verdicts at another level and in another order of preference.
  const what = document.getElementById("what-if");
  if (what) {
    const level = what.querySelector("input"), list = what.querySelector("ol");
    const worse = JSON.parse(what.dataset.pvalues);

    const judge = () => {
      const alpha = level.valueAsNumber;
      if (!level.checkValidity() || Number.isNaN(alpha)) return;
      let recommended = false;
      for (const row of list.children) {
        const out = worse[row.dataset.learner].some((p) => p <= alpha);
        const verdict = out ? "ruled out" : recommended ? "may be the best" : "recommended";
        recommended ||= !out;
        row.className = verdict.replaceAll(" ", "-");
        row.querySelector("output").textContent = verdict;
        row.querySelector("button").disabled = !row.previousElementSibling;
      }
    };

    level.addEventListener("input", judge);
    list.addEventListener("click", ({ target }) => {
      const row = target.closest("button")?.parentElement;
      if (!row?.previousElementSibling) return;
      row.previousElementSibling.before(row);
      judge();
      (target.disabled ? row.nextElementSibling.querySelector("button") : target).focus();
    });
    judge();
    what.hidden = false;
  }

  // Paper shows everything but the long tables.
  let changed = [];
  const toggle = () => { for (const node of changed) node.open = !node.open; };
  window.addEventListener("beforeprint", () => {
    changed = folds.filter((node) => node.open === node.matches(".table"));
    toggle();
  });
  window.addEventListener("afterprint", toggle);

  // Let the keyboard focus a box only if it scrolls.
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const scrolls = target.scrollWidth > target.clientWidth + 1
        || target.scrollHeight > target.clientHeight + 1;
      if (scrolls) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const box of document.querySelectorAll(".scroll, pre")) observer.observe(box);
})();
