// Open folded parts for links, for printing and all at once; mark the current section in the bar.
(() => {
  "use strict";

  const folds = () => [...document.querySelectorAll("details.fold")];
  const links = [...document.querySelectorAll(".links a")];

  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const fold = target.querySelector(":scope > details.fold");
    for (let node = fold ?? target; node; node = node.parentElement) {
      if (node.matches("details")) node.open = true;
    }
  }
  window.addEventListener("hashchange", reveal);
  for (const link of links) link.addEventListener("click", () => setTimeout(reveal));
  reveal();

  const all = document.getElementById("open-all");
  all.hidden = false;
  all.addEventListener("click", () => {
    const open = all.getAttribute("aria-pressed") !== "true";
    for (const node of folds()) node.open = open;
    all.setAttribute("aria-pressed", String(open));
    all.textContent = open ? "Close all parts" : "Open all parts";
  });

  // Paper shows the decision, the figures and how it was run; the other parts stay folded.
  let changedForPrinting = [];
  window.addEventListener("beforeprint", () => {
    const onPaper = (node) => node.matches("#verdict *, .figure, #how > *");
    changedForPrinting = folds().filter((node) => node.open !== onPaper(node));
    for (const node of changedForPrinting) node.open = !node.open;
  });
  window.addEventListener("afterprint", () => {
    for (const node of changedForPrinting) node.open = !node.open;
  });

  // The current section is the last one whose heading has passed the bar.
  const sections = links.map((link) => document.querySelector(link.hash));
  let waiting = false;
  function mark() {
    waiting = false;
    const passed = sections.filter(
      (node) => node && !node.hidden && node.getBoundingClientRect().top < 120);
    const current = passed.at(-1) ?? sections[0];
    links.forEach((link, k) => {
      if (sections[k] === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }
  window.addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(mark);
    waiting = true;
  }, { passive: true });
  mark();

  // Let the keyboard focus a box only if it scrolls.
  const boxes = document.querySelectorAll(".scroll, pre");
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const scrolls = target.scrollWidth > target.clientWidth + 1
        || target.scrollHeight > target.clientHeight + 1;
      if (scrolls) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const box of boxes) observer.observe(box);
})();
