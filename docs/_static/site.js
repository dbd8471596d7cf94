// Names for two controls of the theme that screen readers would hear wrongly or not at all, and a
// class for figures and tables that are wider than the page.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".search-button-field")) {
    button.removeAttribute("aria-label");
  }
  for (const summary of document.querySelectorAll(".bd-links .has-children > details > summary")) {
    const page = summary.closest("li").querySelector("a")?.textContent.trim();
    summary.setAttribute("aria-label", `Pages of ${page ?? "this section"}`);
  }
  const cut = new ResizeObserver((boxes) => {
    for (const { target } of boxes) {
      target.classList.toggle("bk-cut", target.scrollWidth > target.clientWidth + 1);
      // keys can scroll only what has the focus
      if (target.classList.contains("bk-cut")) target.tabIndex = 0;
    }
  });
  const boxes = ".bk-scroll, .bk-columns, .pst-scrollable-table-container";
  for (const box of document.querySelectorAll(boxes)) cut.observe(box);
});
