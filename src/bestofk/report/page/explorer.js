// The part of the page that the reader moves: alpha, the correction and the prior.
(() => {
  "use strict";

  const section = document.getElementById("what-if");
  if (!section) return;
  const data = JSON.parse(document.getElementById("evidence-data").textContent);
  const find = (selector) => section.querySelector(selector);
  const list = find(".prior");
  const arcs = find(".arcs");
  const slider = find("#alpha");
  const typed = find("#alpha-number");
  const correction = find("#correction");
  const SVG = "http://www.w3.org/2000/svg";
  const LONGEST = 60;
  const lowest = Math.min(0.001, data.alpha);
  const highest = Math.max(0.5, data.alpha);
  const STEPS = Number(slider.max);

  const start = {
    prior: data.names.map((_, learner) => learner),
    alpha: data.alpha,
    correction: data.correction,
  };
  const decided = bestofk.multitest(data, start);
  let state = { ...start };
  let shown = decided;

  const position = (alpha) => Math.round(
    (STEPS * Math.log(alpha / lowest)) / Math.log(highest / lowest));
  const alphaAt = (place) => {
    if (place === position(data.alpha)) return data.alpha;
    return Number((lowest * (highest / lowest) ** (place / STEPS)).toPrecision(2));
  };
  const oneLine = (name) => name.split(/\s+/).filter(Boolean).join(" ");

  function nameNode(learner) {
    const full = oneLine(data.names[learner]);
    const letters = Array.from(full);
    const node = document.createElement("bdi");
    node.textContent = letters.length > LONGEST
      ? letters.slice(0, LONGEST - 1).join("") + "…" : full;
    if (node.textContent !== data.names[learner]) node.title = full;
    return node;
  }

  function element(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  function drawn(tag, attributes) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  }

  const items = new Map(data.names.map((name, learner) => {
    const called = oneLine(name);
    const label = nameNode(learner);
    label.classList.add("learner");
    const item = element("li", { "data-learner": learner },
      element("span", { class: "handle", "aria-hidden": "true", title: "Drag" }, "⠿"),
      label,
      element("span", { class: "place" }),
      element("button", { type: "button", class: "up", "aria-label": `Move ${called} up` }, "▲"),
      element("button", { type: "button", class: "down", "aria-label": `Move ${called} down` }, "▼"));
    return [learner, item];
  }));

  function move(learner, to) {
    const rest = state.prior.filter((other) => other !== learner);
    const place = Math.max(0, Math.min(rest.length, to));
    if (state.prior[place] === learner) return;
    rest.splice(place, 0, learner);
    change({ prior: rest });
  }

  function change(part) {
    state = { ...state, ...part };
    shown = bestofk.multitest(data, state);
    show();
  }

  function paragraph(parts) {
    const node = document.createElement("p");
    node.append(...parts.map((part) =>
      typeof part === "string" ? part : nameNode(part.learner)));
    return node;
  }

  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  function show() {
    slider.value = position(state.alpha);
    slider.setAttribute("aria-valuetext", bestofk.level(state.alpha));
    if (document.activeElement !== typed) typed.value = bestofk.level(state.alpha);
    correction.value = state.correction;
    const inPlace = [...list.children].map((item) => Number(item.dataset.learner));
    if (!same(inPlace, state.prior)) {
      const focused = document.activeElement;
      list.replaceChildren(...state.prior.map((learner) => items.get(learner)));
      if (focused && list.contains(focused)) focused.focus();
    }
    const places = new Map(shown.order.map((learner, place) => [learner, place + 1]));
    state.prior.forEach((learner, row) => {
      const item = items.get(learner);
      item.querySelector(".place").textContent = places.get(learner);
      item.classList.toggle("best", places.get(learner) === 1);
      item.querySelector(".up").disabled = row === 0;
      item.querySelector(".down").disabled = row === state.prior.length - 1;
    });
    showArcs();
    find(".live-order").replaceChildren(...shown.order.map((learner) =>
      element("li", {}, nameNode(learner))));
    // the second sentence is the order, which stands above as a list
    const words = bestofk.sentences(data, shown).filter((_, place) => place !== 1);
    find(".live-words").replaceChildren(...words.map(paragraph));
    find(".live-steps").replaceChildren(...shown.candidates.map((free, step) => {
      const who = free.flatMap((learner, place) => [place ? ", " : "", nameNode(learner)]);
      return element("li", {}, ...who, " → ", element("b", {}, nameNode(shown.order[step])));
    }));
    showState();
  }

  function showState() {
    const node = find(".state");
    const asDecided = same(state, start);
    node.classList.toggle("differs", !same(shown.order, decided.order));
    find("#reset").disabled = asDecided;
    if (asDecided) node.replaceChildren("As it was decided.");
    else if (same(shown.order, decided.order)) {
      node.replaceChildren("The order stays as it was decided.");
    } else if (shown.order[0] === decided.order[0]) {
      node.replaceChildren("The best stays ", nameNode(shown.order[0]), "; the order changes.");
    } else {
      node.replaceChildren("The best would be ", nameNode(shown.order[0]), " in place of ",
        nameNode(decided.order[0]), ".");
    }
  }

  // An arc from every learner to each one that overrides it, beside the rows of the prior.
  function showArcs() {
    const K = state.prior.length;
    const row = list.firstElementChild.getBoundingClientRect().height || 36;
    const width = arcs.getBoundingClientRect().width || 160;
    const at = new Map(state.prior.map((learner, place) => [learner, (place + 0.5) * row]));
    const reach = width - 14;
    arcs.setAttribute("height", K * row);
    arcs.setAttribute("viewBox", `0 0 ${width} ${K * row}`);
    const best = shown.order[0];
    const paths = shown.edges.map(([i, j]) => {
      const from = at.get(i);
      const to = at.get(j);
      const far = 10 + (reach - 10) * Math.abs(to - from) / Math.max((K - 1) * row, 1);
      return drawn("path", {
        d: `M2 ${from}C${far * 1.3} ${from} ${far * 1.3} ${to} 9 ${to}`,
        class: j === best ? "arc to-best" : "arc",
        "data-from": i, "data-to": j,
      });
    });
    const heads = [...new Set(shown.edges.map(([, j]) => j))].map((j) => drawn("path", {
      d: `M2 ${at.get(j)}l8 -4v8z`, class: j === best ? "head to-best" : "head",
    }));
    arcs.replaceChildren(...paths, ...heads);
    arcs.setAttribute("aria-label",
      `${shown.edges.length} of ${shown.pairs.length} pairs in which the data override the prior`);
  }

  function highlight(learner) {
    for (const arc of arcs.querySelectorAll(".arc")) {
      const touches = learner !== null &&
        (arc.dataset.from === learner || arc.dataset.to === learner);
      arc.classList.toggle("touched", touches);
    }
  }

  slider.addEventListener("input", () => change({ alpha: alphaAt(Number(slider.value)) }));
  typed.addEventListener("input", () => {
    const alpha = Number(typed.value);
    const fits = alpha > 0 && alpha < 1;
    typed.toggleAttribute("aria-invalid", !fits);
    if (fits) change({ alpha });
  });
  typed.addEventListener("blur", show);
  correction.addEventListener("change", () => change({ correction: correction.value }));
  find("#reset").addEventListener("click", () => change({ ...start }));
  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const learner = Number(button.closest("li").dataset.learner);
    const step = button.classList.contains("up") ? -1 : 1;
    move(learner, state.prior.indexOf(learner) + step);
    if (button.disabled) button.parentElement.querySelector("button:enabled")?.focus();
    else button.focus();
  });
  list.addEventListener("keydown", (event) => {
    const item = event.target.closest("li");
    const target = { Home: 0, End: data.names.length }[event.key];
    if (!item || target === undefined) return;
    event.preventDefault();
    move(Number(item.dataset.learner), target);
    (event.target.disabled ? item.querySelector("button:enabled") : event.target).focus();
  });
  list.addEventListener("pointerover", (event) => {
    highlight(event.target.closest("li")?.dataset.learner ?? null);
  });
  list.addEventListener("pointerleave", () => highlight(null));

  // The list holds the pointer, not the row: rows move while they are dragged.
  let dragged = null;
  list.addEventListener("pointerdown", (event) => {
    const item = event.target.closest("li");
    if (!item || event.target.closest("button") || event.button !== 0) return;
    if (event.pointerType === "touch" && !event.target.closest(".handle")) return;
    event.preventDefault();
    dragged = Number(item.dataset.learner);
    item.classList.add("dragged");
    list.setPointerCapture(event.pointerId);
  });
  list.addEventListener("pointermove", (event) => {
    if (dragged === null) return;
    const box = list.getBoundingClientRect();
    const row = box.height / data.names.length;
    move(dragged, Math.floor((event.clientY - box.top) / row));
    if (event.clientY < 40) window.scrollBy(0, -row);
    else if (event.clientY > window.innerHeight - 40) window.scrollBy(0, row);
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
    list.addEventListener(end, () => {
      if (dragged === null) return;
      items.get(dragged).classList.remove("dragged");
      dragged = null;
    });
  }
  window.addEventListener("resize", showArcs);

  section.hidden = false;
  document.getElementById("what-if-link").hidden = false;
  show();
})();
