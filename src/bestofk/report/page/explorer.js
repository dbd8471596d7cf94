// The part of the page that the reader moves: alpha, the correction and the preference.
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
  const radios = { none: find("#no-preference"), own: find("#own-preference") };
  const SVG = "http://www.w3.org/2000/svg";
  const LONGEST = 60;
  const MOST_EDGES = 60;
  const lowest = Math.min(0.001, data.alpha);
  const highest = Math.max(0.5, data.alpha);
  const STEPS = Number(slider.max);
  const GROUPS = { better: ".better", "no evidence": ".adequate", worse: ".worse" };

  const start = {
    prior: data.stated ? data.names.map((_, learner) => learner) : null,
    alpha: data.alpha,
    correction: data.correction,
  };
  const decided = bestofk.decide(data, start);
  let state = { ...start };
  let shown = decided;

  const position = (alpha) => Math.round(
    (STEPS * Math.log(alpha / lowest)) / Math.log(highest / lowest));
  const alphaAt = (place) => {
    if (place === position(data.alpha)) return data.alpha;
    return Number((lowest * (highest / lowest) ** (place / STEPS)).toPrecision(2));
  };
  const oneLine = (name) => name.split(/\s+/).filter(Boolean).join(" ");
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  function nameNode(learner) {
    const full = oneLine(data.names[learner]);
    const letters = Array.from(full);
    const node = document.createElement("bdi");
    node.dataset.learner = learner;
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

  const pNode = (p) => element(
    "span", { class: "p", "data-p": p, title: `adjusted p = ${p}` },
    bestofk.pvalueWords(p, state.alpha));

  const partNode = (part) => {
    if (typeof part === "string") return part;
    return "p" in part ? pNode(part.p) : nameNode(part.learner);
  };

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

  // Moving a learner states a preference.
  function move(learner, to) {
    const rest = shown.prior.filter((other) => other !== learner);
    const place = Math.max(0, Math.min(rest.length, to));
    if (shown.prior[place] === learner) return;
    rest.splice(place, 0, learner);
    change({ prior: rest });
  }

  function change(part) {
    state = { ...state, ...part };
    shown = bestofk.decide(data, state);
    show();
  }

  function show() {
    slider.value = position(state.alpha);
    slider.setAttribute("aria-valuetext", bestofk.level(state.alpha));
    if (document.activeElement !== typed) typed.value = bestofk.level(state.alpha);
    correction.value = state.correction;
    radios.none.checked = !shown.stated;
    radios.own.checked = shown.stated;
    showPreference();
    showArcs();
    find(".live-words").replaceChildren(...bestofk.headline(data, shown).map(
      (parts) => element("p", {}, ...parts.map(partNode))));
    showGroups();
    find(".live-order").replaceChildren(...shown.order.map((learner) =>
      element("li", {}, nameNode(learner))));
    showEdges();
    showSteps();
    showState();
  }

  function showPreference() {
    const inPlace = [...list.children].map((item) => Number(item.dataset.learner));
    if (!same(inPlace, shown.prior)) {
      const focused = document.activeElement;
      list.replaceChildren(...shown.prior.map((learner) => items.get(learner)));
      if (focused && list.contains(focused)) focused.focus();
    }
    const places = new Map(shown.order.map((learner, place) => [learner, place + 1]));
    shown.prior.forEach((learner, row) => {
      const item = items.get(learner);
      item.querySelector(".place").textContent = places.get(learner);
      item.classList.toggle("recommended", places.get(learner) === 1);
      item.querySelector(".up").disabled = row === 0;
      item.querySelector(".down").disabled = row === shown.prior.length - 1;
    });
  }

  function showGroups() {
    find(".group.recommended").hidden = false;
    find(".group.recommended ul").replaceChildren(element("li", {},
      nameNode(shown.recommended), ` ${data.shown[shown.recommended]}`));
    for (const [verdict, selector] of Object.entries(GROUPS)) {
      const members = shown.standings.filter((one) => one.verdict === verdict);
      const group = find(`.group${selector}`);
      group.hidden = !members.length;
      group.querySelector("ul").replaceChildren(...members.map((one) => element("li", {},
        nameNode(one.learner), ` ${data.shown[one.learner]}, `, pNode(one.p))));
    }
  }

  function showEdges() {
    const node = find(".live-edges");
    const total = (data.names.length * (data.names.length - 1)) / 2;
    const pairs = `${total} pair${total === 1 ? "" : "s"}`;
    node.hidden = !shown.stated;
    if (!shown.edges.length) {
      node.replaceChildren(element("p", {},
        `Nothing in the data overrides this preference (${pairs} tested).`));
      return;
    }
    const listed = shown.edges.slice(0, MOST_EDGES).map(([i, j]) => element("li", {},
      nameNode(j), " over ", nameNode(i), " (", pNode(bestofk.pair(data, state, i, j).p), ")"));
    const more = shown.edges.length - listed.length;
    if (more > 0) listed.push(element("li", {}, `and ${more} more`));
    node.replaceChildren(
      element("p", {}, `The data override this preference in ${shown.edges.length} of ${pairs}:`),
      element("ul", { class: "chips" }, ...listed));
  }

  function showSteps() {
    find(".steps-box").hidden = !shown.stated;
    find(".live-steps").replaceChildren(...shown.steps.map((step) => {
      const who = step.candidates.flatMap((learner, place) => [
        place ? ", " : "",
        step.passedOver.includes(learner)
          ? element("s", { title: "passed over" }, nameNode(learner)) : nameNode(learner),
      ]);
      const passed = step.passedOver.length ? " (struck through: passed over)" : "";
      return element("li", {}, ...who, " → ", element("b", {}, nameNode(step.chosen)), passed);
    }));
  }

  // What has changed against the decision.
  function showState() {
    const node = find(".state");
    const asDecided = same(state, start);
    find("#reset").disabled = asDecided;
    const key = (claim) => claim.join(">");
    const before = new Set(decided.claims.map(key));
    const now = new Set(shown.claims.map(key));
    const added = [...now].filter((claim) => !before.has(claim)).length;
    const gone = [...before].filter((claim) => !now.has(claim)).length;
    const moved = shown.recommended !== decided.recommended;
    const reordered = !same(shown.order, decided.order);
    node.classList.toggle("differs", moved);
    if (asDecided) {
      node.replaceChildren("As it was decided.");
      return;
    }
    const parts = moved
      ? [nameNode(shown.recommended), " would be recommended in place of ",
         nameNode(decided.recommended)]
      : [nameNode(shown.recommended), " is still recommended"];
    if (!moved) parts.push(reordered ? "; the order changes" : ", and the order stays");
    const changes = [];
    if (added) changes.push(`${added} more pair${added === 1 ? " differs" : "s differ"} significantly`);
    if (gone) changes.push(`${gone} no longer ${gone === 1 ? "does" : "do"}`);
    if (changes.length) parts.push(`; ${changes.join(", ")}`);
    node.replaceChildren(...parts, ".");
  }

  // An arc from every learner to each one that overrides it, beside the rows of the preference.
  function showArcs() {
    const K = shown.prior.length;
    const row = list.firstElementChild.getBoundingClientRect().height || 36;
    const width = arcs.getBoundingClientRect().width || 160;
    const at = new Map(shown.prior.map((learner, place) => [learner, (place + 0.5) * row]));
    const reach = width - 14;
    const edges = shown.stated ? shown.edges : [];
    arcs.setAttribute("height", K * row);
    arcs.setAttribute("viewBox", `0 0 ${width} ${K * row}`);
    const to = (j) => (j === shown.recommended ? " to-recommended" : "");
    const paths = edges.map(([i, j]) => {
      const [from, end] = [at.get(i), at.get(j)];
      const far = 10 + (reach - 10) * Math.abs(end - from) / Math.max((K - 1) * row, 1);
      return drawn("path", {
        d: `M2 ${from}C${far * 1.3} ${from} ${far * 1.3} ${end} 9 ${end}`,
        class: `arc${to(j)}`, "data-from": i, "data-to": j,
      });
    });
    const heads = [...new Set(edges.map(([, j]) => j))].map((j) => drawn("path", {
      d: `M2 ${at.get(j)}l8 -4v8z`, class: `head${to(j)}`,
    }));
    arcs.replaceChildren(...paths, ...heads);
    arcs.setAttribute("aria-label",
      `${edges.length} pairs in which the data override the preference`);
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
  radios.none.addEventListener("change", () => change({ prior: null }));
  radios.own.addEventListener("change", () => change({ prior: start.prior ?? shown.prior }));
  find("#reset").addEventListener("click", () => change({ ...start }));
  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const learner = Number(button.closest("li").dataset.learner);
    const step = button.classList.contains("up") ? -1 : 1;
    move(learner, shown.prior.indexOf(learner) + step);
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
