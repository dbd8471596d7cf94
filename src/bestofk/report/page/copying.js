// Copy buttons.
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
  for (const label of document.querySelectorAll("[data-copies]")) label.hidden = false;
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const label = button.textContent;
      const source = document.getElementById(button.dataset.copy);
      const done = await copy(source.textContent);
      button.textContent = done ? "Copied" : "Select the text below and copy it";
      if (!done) source.closest("details")?.setAttribute("open", "");
      button.classList.toggle("done", done);
      setTimeout(() => { button.textContent = label; button.classList.remove("done"); }, 1500);
    });
  }
})();
