// The part of the page that the reader moves: alpha, the correction and the preference. It says
// only what would differ from the decision that the report prints.
(() => {
  "use strict";

  const section = document.getElementById("what-if");
  if (!section) return;
  const data = JSON.parse(document.getElementById("evidence-data").textContent);
  const find = (selector) => section.querySelector(selector);
  const list = find(".preference");
  const slider = find("#alpha");
  const typed = find("#alpha-number");
  const wrong = find("#alpha-wrong");
  const correction = find("#correction");
  const radios = { none: find("#no-preference"), own: find("#own-preference") };
  const LONGEST = 60;
  const MOST = 12;
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
      element("button", { type: "button", class: "up", "aria-label": `Move ${called} up` }, "▲"),
      element("button", { type: "button", class: "down", "aria-label": `Move ${called} down` }, "▼"));
    return [learner, item];
  }));

  // Moving a learner states a preference.
  function move(learner, to) {
    const rest = shown.preference.filter((other) => other !== learner);
    const place = Math.max(0, Math.min(rest.length, to));
    if (shown.preference[place] === learner) return;
    rest.splice(place, 0, learner);
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
    if (document.activeElement !== typed) typed.value = bestofk.level(state.alpha);
    correction.value = state.correction;
    radios.none.checked = !shown.stated;
    radios.own.checked = shown.stated;
    showPreference();
    showOutcome();
  }

  function showPreference() {
    const inPlace = [...list.children].map((item) => Number(item.dataset.learner));
    if (!same(inPlace, shown.preference)) {
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

  // `With alpha 0.01 and no preference`.
  function settings() {
    const said = [];
    if (state.alpha !== start.alpha) said.push(`alpha ${bestofk.level(state.alpha)}`);
    if (state.correction !== start.correction) said.push(data.called[state.correction]);
    if (!same(state.preference, start.preference)) said.push(shown.stated ? "this preference" : "no preference");
    const last = said.pop();
    return `With ${said.length ? `${said.join(", ")} and ${last}` : last}`;
  }

  // What differs from the decision: kind, the words before, and what is listed.
  function changes() {
    const verdicts = (result) => new Map(result.standings.map((one) => [one.learner, one.verdict]));
    const [before, now] = [verdicts(decided), verdicts(shown)];
    const found = [];
    const moved = shown.recommended !== decided.recommended;
    const than = () => (moved ? [" than ", nameNode(shown.recommended)] : []);
    const group = (kind, words, belongs) => {
      const members = shown.standings.filter((one) => belongs(one.learner, one.verdict));
      if (!members.length) return;
      found.push([kind, [words, ...than(), ": "],
        members.map((one) => [nameNode(one.learner), " (", pNode(one.p), ")"])]);
    };
    if (moved) {
      group("better", "Shown to be better", (_, verdict) => verdict === "better");
      group("adequate", "Not shown to be worse", (_, verdict) => verdict === "no evidence");
      group("worse", "Shown to be worse", (_, verdict) => verdict === "worse");
    } else {
      for (const kind of ["better", "worse"]) {
        group(kind, `Now shown to be ${kind}`,
          (one, verdict) => verdict === kind && before.get(one) !== kind);
        group(`not-${kind}`, `No longer shown to be ${kind}`,
          (one) => before.get(one) === kind && now.get(one) !== kind);
      }
    }
    const places = new Map(decided.order.map((learner, place) => [learner, place + 1]));
    const reordered = shown.order.map((learner, place) => [learner, places.get(learner), place + 1])
      .filter(([, from, to]) => from !== to);
    if (reordered.length) {
      found.push(["places", ["Places in the order: "],
        reordered.map(([learner, from, to]) => [nameNode(learner), ` ${to} (was ${from})`])]);
    }
    const key = (claim) => claim.join(">");
    const [old, fresh] = [decided, shown].map((result) => new Set(result.claims.map(key)));
    for (const [kind, claims, other] of [
      ["more", shown.claims, old], ["fewer", decided.claims, fresh]]) {
      const pairs = claims.filter((claim) => !other.has(key(claim)));
      if (!pairs.length) continue;
      const [noun, verb] = pairs.length === 1 ? ["pair", "differs"] : ["pairs", "differ"];
      const text = kind === "more"
        ? `${pairs.length} more ${noun} ${verb} significantly: `
        : `${pairs.length} ${noun} no longer ${verb} significantly: `;
      found.push([kind, [text], pairs.map(([winner, loser]) => [nameNode(winner), " over ",
        nameNode(loser), " (", pNode(bestofk.pair(data, state, winner, loser).p), ")"])]);
    }
    return found;
  }

  function showOutcome() {
    const node = find(".state");
    const asDecided = same(state, start);
    const moved = shown.recommended !== decided.recommended;
    const found = asDecided ? [] : changes();
    find("#reset").disabled = asDecided;
    node.classList.toggle("differs", moved);
    if (asDecided) node.replaceChildren("As it was decided: ", nameNode(decided.recommended), ".");
    else if (moved) {
      node.replaceChildren(`${settings()}: `, nameNode(shown.recommended), " instead of ",
        nameNode(decided.recommended), ".");
    } else {
      const rest = found.length ? [", still ", nameNode(decided.recommended), ". What changes:"] : ["."];
      node.replaceChildren(`${settings()}: the same decision`, ...rest);
    }
    find(".live-words").replaceChildren(...(moved ? bestofk.headline(data, shown) : []).map(
      (parts) => element("p", {}, ...parts.map(partNode))));
    find(".changes").replaceChildren(...found.map(([kind, words, entries]) => {
      const listed = entries.slice(0, MOST).flatMap((entry, place) =>
        [place ? ", " : "", element("span", { class: "entry" }, ...entry)]);
      const more = entries.length - MOST;
      return element("li", { "data-kind": kind }, ...words, ...listed,
        more > 0 ? ` and ${more} more.` : ".");
    }));
  }

  function refuse(isWrong) {
    if (isWrong) typed.setAttribute("aria-invalid", "true");
    else typed.removeAttribute("aria-invalid");
    wrong.textContent = isWrong ? "Alpha must be a number between 0 and 1." : "";
  }

  slider.addEventListener("input", () => change({ alpha: alphaAt(Number(slider.value)) }));
  typed.addEventListener("input", () => {
    const alpha = Number(typed.value);
    const fits = alpha > 0 && alpha < 1;
    refuse(!fits);
    if (fits) change({ alpha });
  });
  typed.addEventListener("blur", () => { refuse(false); show(); });
  correction.addEventListener("change", () => change({ correction: correction.value }));
  radios.none.addEventListener("change", () => change({ preference: null }));
  radios.own.addEventListener("change", () => change({ preference: start.preference ?? shown.preference }));
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

  section.hidden = false;
  document.getElementById("what-if-link").hidden = false;
  show();
})();
