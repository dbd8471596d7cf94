// Decide by MultiTest as Python does, from the adjusted p-values that Python computed.
// These functions return numbers and sentences; they do not change the page.
const bestofk = (() => {
  "use strict";

  const MAX_LISTED_LEARNERS = 6;
  const MAX_SENTENCES = 3; // about learners that are out, or passed over

  // Return the p-value of learners a and b, and which one is shown to be better.
  function pair(data, { alpha, correction }, a, b) {
    const [i, j] = a < b ? [a, b] : [b, a];
    const row = i * data.names.length - (i * (i + 1)) / 2 + (j - i - 1);
    const p = data.adjusted[correction][row];
    const direction = data.direction[row];
    const claimed = p <= alpha && direction !== 0;
    return { p, better: claimed ? (direction < 0 ? i : j) : null };
  }

  // Return the learners (indices of `data.names`) by their means; ties keep their order.
  const byMean = (data) => data.names.map((_, learner) => learner)
    .sort((a, b) => data.means[a] - data.means[b] || a - b);

  // Decide. `state.preference` lists the learners, most preferred first, or is null.
  function decide(data, state) {
    const stated = state.preference !== null;
    const preference = stated ? state.preference : byMean(data);
    const edges = [];
    const claims = [];
    preference.forEach((i, position) => {
      for (const j of preference.slice(position + 1)) {
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
        const verdict = better === null ? "too close to call" : better === learner ? "better" : "worse";
        return { learner, p, verdict };
      })
      .sort((a, b) => data.means[a.learner] - data.means[b.learner]);
    return { ...state, stated, preference, edges, claims, steps, order, recommended, standings };
  }

  // Return the steps of the ordering; the guard applies if `means` is not null.
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

  // Return the most preferred candidate whose mean no preferred learner that is out undercuts,
  // or else the candidate with the smallest mean.
  function guarded(remaining, outgoing, means) {
    let smallestMeanOut = Infinity;
    let smallest = null;
    for (const learner of remaining) {
      if (outgoing.get(learner) > 0) {
        smallestMeanOut = Math.min(smallestMeanOut, means[learner]);
      }
      else {
        if (means[learner] <= smallestMeanOut) return learner;
        if (smallest === null || means[learner] < means[smallest]) smallest = learner;
      }
    }
    return smallest;
  }

  // Format as Python's format(alpha, "g"), except for very small numbers.
  const level = (alpha) => String(Number(alpha.toPrecision(6))).replace(/e-(\d)$/, "e-0$1");

  // Format as Python's format(value, ".{decimals}f"), which rounds halves to the even digit.
  function fixed(value, decimals) {
    const [whole, fraction] = value.toFixed(100).split(".");
    const digits = BigInt(whole + fraction.slice(0, decimals));
    const rest = fraction.slice(decimals);
    const isHalf = /^50*$/.test(rest);
    const roundsUp = isHalf ? digits % 2n === 1n : rest[0] >= "5";
    const text = String(digits + (roundsUp ? 1n : 0n)).padStart(decimals + 1, "0");
    return `${text.slice(0, text.length - decimals)}.${text.slice(text.length - decimals)}`;
  }

  // Format as pvalue_words does in Python: two digits, or more if two would cross alpha.
  function pvalueWords(p, alpha) {
    const least = alpha >= 1e-4 ? 1e-4 : alpha / 100;
    if (p < least) return `p < ${level(least)}`;
    if (p >= 0.995) return p === 1 ? "p = 1" : "p > 0.99";
    let decimals = p > 0 ? Math.max(2, 1 - Number(p.toExponential(1).split("e")[1])) : 2;
    let text = fixed(p, decimals);
    while ((Number(text) <= alpha) !== (p <= alpha) && decimals < 17) {
      decimals += 1;
      text = fixed(p, decimals);
    }
    return `p = ${text}`;
  }

  // A sentence is a list of texts, of {learner} and of {p}, so that names stay names.
  function joined(items) {
    return items.flatMap((item, k) => {
      if (k === 0) return item;
      return [k === items.length - 1 ? " and " : ", ", ...item];
    });
  }

  function listing(learners) {
    const items = learners.map((learner) => [{ learner }]);
    if (items.length <= MAX_LISTED_LEARNERS + 1) return joined(items);
    const more = `${items.length - MAX_LISTED_LEARNERS} more`;
    return joined([...items.slice(0, MAX_LISTED_LEARNERS), [more]]);
  }

  // Say what to do and why, in the words of Decision.headline().
  function headline(data, result) {
    const { recommended: best, preference, standings } = result;
    const use = ["Use ", { learner: best }];
    const smallest = byMean(data)[0];
    const isSmallest = data.means[best] === data.means[smallest];
    const mean = `the ${data.metric} (${data.shown[best]})`;
    const verdicts = new Map(standings.map((standing) => [standing.learner, standing.verdict]));
    const better = standings.filter((standing) => standing.verdict === "better");
    const sentences = [];
    if (result.stated) {
      const preferred = preference.slice(0, preference.indexOf(best));
      const beaten = preferred.filter((learner) => verdicts.get(learner) === "worse");
      const { passedOver } = result.steps[0];
      if (beaten.length) {
        sentences.push([...use, ": it is significantly better than ", ...listing(beaten),
          ", which you prefer", isSmallest ? `, and it has ${mean}.` : "."]);
      } else if (isSmallest) {
        sentences.push([...use, `, which has ${mean}.`]);
      } else if (passedOver.length) {
        sentences.push([...use, "."]);
      } else {
        sentences.push([...use, ", the first in your order that no other significantly beats."]);
      }
      sentences.push(...struckOut(data, result, preferred, beaten, passedOver));
      sentences.push(...passed(data, result, passedOver));
      if (!isSmallest) {
        const { p } = pair(data, result, smallest, best);
        const has = [{ learner: smallest }, ` has the ${data.metric} (${versus(data, smallest, best)})`];
        sentences.push(verdicts.get(smallest) === "better"
          ? [...has, "."]
          : [...has, ", but the two are too close to call (", { p }, ")."]);
      }
    } else {
      const close = standings.filter((standing) => standing.verdict === "too close to call")
        .map((standing) => standing.learner);
      if (close.length) {
        sentences.push([...listing([best, ...close]), " are too close to call."]);
        sentences.push([{ learner: best }, ` has ${mean}, but that could be chance.`]);
      } else {
        sentences.push([...use, `: it has ${mean}.`]);
      }
    }
    if (better.length) {
      const are = better.length === 1 ? "is" : "are";
      const learners = better.map((standing) => standing.learner);
      sentences.push([result.stated ? "Yet " : "But ", ...listing(learners),
        ` ${are} significantly better`,
        ...(result.stated ? [" than ", { learner: best }, "."]
          : [" by the test, which does not go by the mean."])]);
    }
    return sentences;
  }

  function versus(data, first, second) {
    const [a, b] = [data.shown[first], data.shown[second]];
    return a === b ? `${a}, nearly equal` : `${a} vs ${b}`;
  }

  function struckOut(data, { claims }, preferred, beaten, passedOver) {
    const byWinner = new Map();
    for (const learner of preferred) {
      if (beaten.includes(learner) || passedOver.includes(learner)) continue;
      const winners = claims.filter(([, worse]) => worse === learner).map(([winner]) => winner);
      const winner = winners.reduce((a, b) => (data.means[b] < data.means[a] ? b : a));
      byWinner.set(winner, [...(byWinner.get(winner) ?? []), learner]);
    }
    return [...byWinner].slice(0, MAX_SENTENCES).map(([winner, out]) => [...listing(out),
      `, which you prefer, ${out.length === 1 ? "is" : "are"} out because `, { learner: winner },
      " is significantly better."]);
  }

  function passed(data, { preference, edges }, passedOver) {
    const out = new Set(edges.map(([i]) => i));
    return passedOver.slice(0, MAX_SENTENCES).map((learner) => {
      const other = preference.slice(0, preference.indexOf(learner))
        .filter((preferred) => out.has(preferred))
        .reduce((a, b) => (data.means[b] < data.means[a] ? b : a));
      return [{ learner }, " is passed over although no other significantly beats it: its mean " +
        `(${data.shown[learner]}) is worse than that of `, { learner: other },
        ` (${data.shown[other]}), which you prefer and which is out.`];
    });
  }

  return { byMean, decide, pair, headline, level, pvalueWords };
})();
