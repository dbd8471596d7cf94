// Names for two controls of the theme that screen readers would hear wrongly or not at all, and the
// focus for what may be wider than the page. Nothing here measures the layout or changes it.
document.addEventListener("DOMContentLoaded", () => {
  // on a desk the button shows its name and keys; on a phone it shows neither
  for (const button of document.querySelectorAll(".search-button-field")) {
    if (!button.closest(".navbar-persistent--mobile")) button.removeAttribute("aria-label");
  }
  for (const summary of document.querySelectorAll(".bd-links .has-children > details > summary")) {
    const page = summary.closest("li").querySelector("a")?.textContent.trim();
    summary.setAttribute("aria-label", `Pages of ${page ?? "this section"}`);
  }
  // keys can scroll only what has the focus
  const boxes = ".bk-scroll, .bk-columns, .pst-scrollable-table-container";
  for (const box of document.querySelectorAll(boxes)) box.tabIndex = 0;
});
