// The section in which readers try another alpha, correction or preference. It shows only what
// differs from the decision of the report.
(() => {
  "use strict";

  const section = document.getElementById("what-if");
  if (!section) return;
  const data = JSON.parse(document.getElementById("evidence-data").textContent);
  const find = (selector) => section.querySelector(selector);
  const list = find(".preference-list");
  const slider = find("#alpha");
  const alphaInput = find("#alpha-number");
  const alphaError = find("#alpha-wrong");
  const correction = find("#correction");
  const radios = { none: find("#no-preference"), stated: find("#own-preference") };
  const MAX_NAME_LENGTH = 60;
  const MAX_ENTRIES = 12;
  const lowest = Math.min(0.001, data.alpha);
  const highest = Math.max(0.5, data.alpha);
  const STEPS = Number(slider.max);

  const start = {
    preference: data.stated ? data.names.map((_, learner) => learner) : null,
    alpha: data.alpha,
    correction: data.correction,
  };
  const decided = bestofk.decide(data, start);
  let state = { ...start };
  let shown = decided;

  const position = (alpha) => Math.round(
    (STEPS * Math.log(alpha / lowest)) / Math.log(highest / lowest));
  const alphaAt = (step) => {
    if (step === position(data.alpha)) return data.alpha;
    return Number((lowest * (highest / lowest) ** (step / STEPS)).toPrecision(2));
  };
  const oneLine = (name) => name.split(/\s+/).filter(Boolean).join(" ");
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  function nameNode(learner) {
    const full = oneLine(data.names[learner]);
    const letters = Array.from(full);
    const node = document.createElement("bdi");
    node.dataset.learner = learner;
    node.textContent = letters.length > MAX_NAME_LENGTH
      ? letters.slice(0, MAX_NAME_LENGTH - 1).join("") + "…" : full;
    if (node.textContent !== data.names[learner]) node.title = full;
    return node;
  }

  function element(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
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
    const text = oneLine(name);
    const label = nameNode(learner);
    label.classList.add("learner");
    const item = element("li", { "data-learner": learner },
      element("span", { class: "handle", "aria-hidden": "true", title: "Drag" }, "⠿"),
      label,
      element("button", { type: "button", class: "up", "aria-label": `Move ${text} up` }, "▲"),
      element("button", { type: "button", class: "down", "aria-label": `Move ${text} down` }, "▼"));
    return [learner, item];
  }));

  // Moving a learner states a preference.
  function move(learner, to) {
    const rest = shown.preference.filter((other) => other !== learner);
    const index = Math.max(0, Math.min(rest.length, to));
    if (shown.preference[index] === learner) return;
    rest.splice(index, 0, learner);
    change({ preference: rest });
  }

  function change(part) {
    state = { ...state, ...part };
    shown = bestofk.decide(data, state);
    show();
  }

  function show() {
    slider.value = position(state.alpha);
    slider.setAttribute("aria-valuetext", bestofk.level(state.alpha));
    if (document.activeElement !== alphaInput) alphaInput.value = bestofk.level(state.alpha);
    correction.value = state.correction;
    radios.none.checked = !shown.stated;
    radios.stated.checked = shown.stated;
    showPreference();
    showOutcome();
  }

  function showPreference() {
    const listed = [...list.children].map((item) => Number(item.dataset.learner));
    if (!same(listed, shown.preference)) {
      const focused = document.activeElement;
      list.replaceChildren(...shown.preference.map((learner) => items.get(learner)));
      if (focused && list.contains(focused)) focused.focus();
    }
    shown.preference.forEach((learner, row) => {
      const item = items.get(learner);
      item.classList.toggle("recommended", learner === shown.recommended);
      item.querySelector(".up").disabled = row === 0;
      item.querySelector(".down").disabled = row === shown.preference.length - 1;
    });
  }

  // Describe the changed settings: "With alpha 0.01 and no preference".
  function settings() {
    const parts = [];
    if (state.alpha !== start.alpha) parts.push(`alpha ${bestofk.level(state.alpha)}`);
    if (state.correction !== start.correction) parts.push(data.called[state.correction]);
    if (!same(state.preference, start.preference)) {
      parts.push(shown.stated ? "this preference" : "no preference");
    }
    const last = parts.pop();
    return `With ${parts.length ? `${parts.join(", ")} and ${last}` : last}`;
  }

  // Return the differences from the decision: kind, introduction and listed entries.
  function changes() {
    const verdicts = (result) => new Map(
      result.standings.map((standing) => [standing.learner, standing.verdict]));
    const [before, now] = [verdicts(decided), verdicts(shown)];
    const differences = [];
    const moved = shown.recommended !== decided.recommended;
    const than = (kind) => (moved
      ? [kind === "adequate" ? " against " : " than ", nameNode(shown.recommended)] : []);
    const group = (kind, text, belongs) => {
      const members = shown.standings.filter(({ learner, verdict }) => belongs(learner, verdict));
      if (!members.length) return;
      differences.push([kind, [text, ...than(kind), ": "],
        members.map(({ learner, p }) => [nameNode(learner), " (", pNode(p), ")"])]);
    };
    if (moved) {
      group("better", "Significantly better", (_, verdict) => verdict === "better");
      group("adequate", "Too close to call", (_, verdict) => verdict === "too close to call");
      group("worse", "Significantly worse", (_, verdict) => verdict === "worse");
    } else {
      for (const kind of ["better", "worse"]) {
        group(kind, `Now significantly ${kind}`,
          (learner, verdict) => verdict === kind && before.get(learner) !== kind);
        group(`not-${kind}`, `No longer significantly ${kind}`,
          (learner) => before.get(learner) === kind && now.get(learner) !== kind);
      }
    }
    const ranks = new Map(decided.order.map((learner, k) => [learner, k + 1]));
    const reordered = shown.order.map((learner, k) => [learner, ranks.get(learner), k + 1])
      .filter(([, from, to]) => from !== to);
    if (reordered.length) {
      differences.push(["places", ["Places in the order: "],
        reordered.map(([learner, from, to]) => [nameNode(learner), ` ${to} (was ${from})`])]);
    }
    const key = (claim) => claim.join(">");
    const [oldClaims, newClaims] = [decided, shown].map(
      (result) => new Set(result.claims.map(key)));
    for (const [kind, claims, other] of [
      ["more", shown.claims, oldClaims], ["fewer", decided.claims, newClaims]]) {
      const pairs = claims.filter((claim) => !other.has(key(claim)));
      if (!pairs.length) continue;
      const [noun, verb] = pairs.length === 1 ? ["pair", "differs"] : ["pairs", "differ"];
      const text = kind === "more"
        ? `${pairs.length} more ${noun} ${verb} significantly: `
        : `${pairs.length} ${noun} no longer ${verb} significantly: `;
      differences.push([kind, [text], pairs.map(([winner, loser]) => [nameNode(winner), " over ",
        nameNode(loser), " (", pNode(bestofk.pair(data, state, winner, loser).p), ")"])]);
    }
    return differences;
  }

  function showOutcome() {
    const node = find(".state");
    const asDecided = same(state, start);
    const moved = shown.recommended !== decided.recommended;
    const differences = asDecided ? [] : changes();
    find("#reset").disabled = asDecided;
    node.classList.toggle("differs", moved);
    if (asDecided) node.replaceChildren("As it was decided: ", nameNode(decided.recommended), ".");
    else if (moved) {
      node.replaceChildren(`${settings()}: `, nameNode(shown.recommended), " instead of ",
        nameNode(decided.recommended), ".");
    } else {
      const rest = differences.length
        ? [", still ", nameNode(decided.recommended), ". What changes:"] : ["."];
      node.replaceChildren(`${settings()}: the same decision`, ...rest);
    }
    find(".live-words").replaceChildren(...(moved ? bestofk.headline(data, shown) : []).map(
      (parts) => element("p", {}, ...parts.map(partNode))));
    find(".changes").replaceChildren(...differences.map(([kind, introduction, entries]) => {
      const listed = entries.slice(0, MAX_ENTRIES).flatMap((entry, k) =>
        [k ? ", " : "", element("span", { class: "entry" }, ...entry)]);
      const more = entries.length - MAX_ENTRIES;
      return element("li", { "data-kind": kind }, ...introduction, ...listed,
        more > 0 ? ` and ${more} more.` : ".");
    }));
  }

  function showAlphaError(isInvalid) {
    if (isInvalid) alphaInput.setAttribute("aria-invalid", "true");
    else alphaInput.removeAttribute("aria-invalid");
    alphaError.textContent = isInvalid ? "Alpha must be a number between 0 and 1." : "";
  }

  slider.addEventListener("input", () => change({ alpha: alphaAt(Number(slider.value)) }));
  alphaInput.addEventListener("input", () => {
    const alpha = Number(alphaInput.value);
    const isValid = alpha > 0 && alpha < 1;
    showAlphaError(!isValid);
    if (isValid) change({ alpha });
  });
  alphaInput.addEventListener("blur", () => { showAlphaError(false); show(); });
  correction.addEventListener("change", () => change({ correction: correction.value }));
  radios.none.addEventListener("change", () => change({ preference: null }));
  radios.stated.addEventListener("change",
    () => change({ preference: start.preference ?? shown.preference }));
  find("#reset").addEventListener("click", () => change({ ...start }));
  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const learner = Number(button.closest("li").dataset.learner);
    const step = button.classList.contains("up") ? -1 : 1;
    move(learner, shown.preference.indexOf(learner) + step);
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
  // Capture the pointer with the list, because rows move while they are dragged.
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

  section.hidden = false;
  document.getElementById("what-if-link").hidden = false;
  show();
})();
