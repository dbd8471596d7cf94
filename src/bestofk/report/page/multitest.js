// MultiTest as bestofk.ordering decides it, from the adjusted p-values that Python found.
// Nothing here touches the page: numbers in, numbers and sentences out.
const bestofk = (() => {
  "use strict";

  const LISTED = 6; // so many learners are named before the rest is only counted

  // What the evidence says of learners a and b: one p-value, whoever is preferred.
  function pair(data, { alpha, correction }, a, b) {
    const [i, j] = a < b ? [a, b] : [b, a];
    const row = i * data.names.length - (i * (i + 1)) / 2 + (j - i - 1);
    const p = data.adjusted[correction][row];
    const direction = data.direction[row];
    const claimed = p <= alpha && direction !== 0;
    return { p, better: claimed ? (direction < 0 ? i : j) : null };
  }

  // Learners, the indices of `data.names`, by their means; as Python has them where equal.
  const byMean = (data) => data.names.map((_, learner) => learner)
    .sort((a, b) => data.means[a] - data.means[b] || a - b);

  // `state.preference` lists the learners, most preferred first; null where nothing is preferred.
  function decide(data, state) {
    const stated = state.preference !== null;
    const preference = stated ? state.preference : byMean(data);
    const edges = [];
    const claims = [];
    preference.forEach((i, place) => {
      for (const j of preference.slice(place + 1)) {
        const { better } = pair(data, state, i, j);
        if (better === j) edges.push([i, j]);
        if (better !== null) claims.push(better === i ? [i, j] : [j, i]);
      }
    });
    const steps = stated ? stepsOf(preference, edges, data.guard ? data.means : null) : [];
    const order = stated ? steps.map((step) => step.chosen) : preference;
    const recommended = order[0];
    const standings = preference.filter((learner) => learner !== recommended)
      .map((learner) => {
        const { p, better } = pair(data, state, learner, recommended);
        const verdict = better === null ? "no evidence" : better === learner ? "better" : "worse";
        return { learner, p, verdict };
      })
      .sort((a, b) => data.means[a.learner] - data.means[b.learner]);
    return { ...state, stated, preference, edges, claims, steps, order, recommended, standings };
  }

  // Every step of the ordering, with the guard of bestofk.ordering.procedures.graph where there are means.
  function stepsOf(preference, edges, means) {
    const outgoing = new Map(preference.map((learner) => [learner, 0]));
    const overridden = new Map(preference.map((learner) => [learner, []]));
    for (const [i, j] of edges) {
      outgoing.set(i, outgoing.get(i) + 1);
      overridden.get(j).push(i);
    }
    const steps = [];
    let remaining = preference.slice();
    while (remaining.length) {
      const candidates = remaining.filter((learner) => outgoing.get(learner) === 0);
      const chosen = means === null ? candidates[0] : guarded(remaining, outgoing, means);
      const passedOver = candidates.slice(0, candidates.indexOf(chosen));
      steps.push({ candidates, chosen, passedOver });
      for (const i of overridden.get(chosen)) outgoing.set(i, outgoing.get(i) - 1);
      remaining = remaining.filter((learner) => learner !== chosen);
    }
    return steps;
  }

  // The most preferred candidate, unless one preferred to it that is out has the smaller mean.
  function guarded(remaining, outgoing, means) {
    let struck = Infinity;
    let smallest = null;
    for (const learner of remaining) {
      if (outgoing.get(learner) > 0) struck = Math.min(struck, means[learner]);
      else {
        if (means[learner] <= struck) return learner;
        if (smallest === null || means[learner] < means[smallest]) smallest = learner;
      }
    }
    return smallest;
  }

  // Python's format(alpha, "g"), for what is not very small.
  const level = (alpha) => String(Number(alpha.toPrecision(6))).replace(/e-(\d)$/, "e-0$1");

  // Python's format(p, ".{places}f"): halves go to the even digit.
  function fixed(value, places) {
    const [whole, part] = value.toFixed(100).split(".");
    const kept = BigInt(whole + part.slice(0, places));
    const rest = part.slice(places);
    const half = /^50*$/.test(rest);
    const up = half ? kept % 2n === 1n : rest[0] >= "5";
    const text = String(kept + (up ? 1n : 0n)).padStart(places + 1, "0");
    return `${text.slice(0, text.length - places)}.${text.slice(text.length - places)}`;
  }

  // As bestofk.wording.pvalue_words: two digits, more where two would cross alpha.
  function pvalueWords(p, alpha) {
    const least = alpha >= 1e-4 ? 1e-4 : alpha / 100;
    if (p < least) return `p < ${level(least)}`;
    if (p >= 0.995) return p === 1 ? "p = 1" : "p > 0.99";
    let places = p > 0 ? Math.max(2, 1 - Number(p.toExponential().split("e")[1])) : 2;
    let text = fixed(p, places);
    while ((Number(text) <= alpha) !== (p <= alpha) && places < 17) {
      places += 1;
      text = fixed(p, places);
    }
    return `p = ${text}`;
  }

  // A sentence is a list of texts, of {learner} and of {p}, so that names stay names.
  function joined(items) {
    return items.flatMap((item, place) => {
      if (place === 0) return item;
      return [place === items.length - 1 ? " and " : ", ", ...item];
    });
  }

  function listing(learners) {
    const items = learners.map((learner) => [{ learner }]);
    if (items.length <= LISTED + 1) return joined(items);
    return joined([...items.slice(0, LISTED), [`${items.length - LISTED} more`]]);
  }

  // What to do and why, in a few sentences: those of Order.headline() where they are short.
  function headline(data, result) {
    const { recommended: best, preference, standings } = result;
    const use = ["Use ", { learner: best }];
    const smallest = byMean(data)[0];
    const isSmallest = data.means[best] === data.means[smallest];
    const mean = `the ${data.metric} (${data.shown[best]})`;
    const verdicts = new Map(standings.map((one) => [one.learner, one.verdict]));
    const better = standings.filter((one) => one.verdict === "better");
    const said = [];
    if (result.stated) {
      const preferred = preference.slice(0, preference.indexOf(best));
      const beaten = preferred.filter((learner) => verdicts.get(learner) === "worse");
      const { passedOver } = result.steps[0];
      if (beaten.length) {
        said.push([...use, ". It is significantly better than ", ...listing(beaten),
          ", which you prefer", isSmallest ? `, and it has ${mean}.` : "."]);
      } else if (isSmallest) {
        said.push([...use, `, which has ${mean}.`]);
      } else if (passedOver.length) {
        said.push([...use, "."]);
      } else {
        said.push([...use, ", the first in your order that no other is shown to beat."]);
      }
      said.push(...struckOut(data, result, preferred, beaten, passedOver));
      said.push(...passed(data, result, passedOver));
      if (!isSmallest) {
        const { p } = pair(data, result, smallest, best);
        const numbers = `${data.shown[smallest]} against ${data.shown[best]}`;
        const has = [{ learner: smallest }, ` has the ${data.metric}, ${numbers}`];
        said.push(verdicts.get(smallest) === "better"
          ? [...has, "."]
          : [...has, ", but is not shown to be better (", { p }, ")."]);
      }
    } else {
      said.push([...use, `: it has ${mean}.`]);
    }
    if (better.length) {
      const are = better.length === 1 ? "is" : "are";
      said.push([result.stated ? "Yet " : "But ", ...listing(better.map((one) => one.learner)),
        ` ${are} significantly better`,
        ...(result.stated ? [" than ", { learner: best }, "."]
          : [" by the test, which does not go by the mean."])]);
    }
    return said;
  }

  function struckOut(data, { claims }, preferred, beaten, passedOver) {
    const byWinner = new Map();
    for (const learner of preferred) {
      if (beaten.includes(learner) || passedOver.includes(learner)) continue;
      const winners = claims.filter(([, worse]) => worse === learner).map(([winner]) => winner);
      const winner = winners.reduce((a, b) => (data.means[b] < data.means[a] ? b : a));
      byWinner.set(winner, [...(byWinner.get(winner) ?? []), learner]);
    }
    return [...byWinner].slice(0, 3).map(([winner, out]) => [...listing(out),
      `, which you prefer, ${out.length === 1 ? "is" : "are"} out because `, { learner: winner },
      " is significantly better."]);
  }

  function passed(data, { preference, edges }, passedOver) {
    const out = new Set(edges.map(([i]) => i));
    return passedOver.slice(0, 3).map((learner) => {
      const other = preference.slice(0, preference.indexOf(learner)).filter((one) => out.has(one))
        .reduce((a, b) => (data.means[b] < data.means[a] ? b : a));
      return [{ learner }, " is passed over although no other is shown to beat it: its mean " +
        `(${data.shown[learner]}) is worse than that of `, { learner: other },
        ` (${data.shown[other]}), which you prefer and which is out.`];
    });
  }

  return { byMean, decide, pair, headline, level, pvalueWords };
})();
