// Names for two controls of the theme that screen readers would hear wrongly or not at all.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".search-button-field")) {
    button.removeAttribute("aria-label");
  }
  for (const summary of document.querySelectorAll(".bd-links .has-children > details > summary")) {
    const page = summary.closest("li").querySelector("a")?.textContent.trim();
    summary.setAttribute("aria-label", `Pages of ${page ?? "this section"}`);
  }
});
