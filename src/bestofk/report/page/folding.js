// What is folded opens for links, for the printer and all at once; the bar says where the reader is.
(() => {
  "use strict";

  const folds = () => [...document.querySelectorAll("details.fold")];
  const links = [...document.querySelectorAll(".links a")];

  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const own = target.querySelector(":scope > details.fold");
    for (let node = own ?? target; node; node = node.parentElement) {
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

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = folds().filter((node) => !node.open);
    for (const node of opened) node.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const node of opened) node.open = false;
  });

  // The section that the reader is in: the last one whose head has passed the bar.
  const sections = links.map((link) => document.querySelector(link.hash));
  let waiting = false;
  function mark() {
    waiting = false;
    const passed = sections.filter(
      (node) => node && !node.hidden && node.getBoundingClientRect().top < 120);
    const here = passed.at(-1) ?? sections[0];
    links.forEach((link, place) => {
      if (sections[place] === here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }
  window.addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(mark);
    waiting = true;
  }, { passive: true });
  mark();

  // A box is a stop for the keyboard only where there is something to scroll to.
  const boxes = document.querySelectorAll(".scroll, pre");
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const scrolls = target.scrollWidth > target.clientWidth + 1
        || target.scrollHeight > target.clientHeight + 1;
      if (scrolls) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const box of boxes) sized.observe(box);
})();
