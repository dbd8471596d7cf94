// MultiTest as bestofk.ordering computes it, from both one-sided p-values of every pair.
// Nothing here touches the page: numbers in, numbers and sentences out.
const bestofk = (() => {
  "use strict";

  const LISTED = 6; // so many learners are named before the rest is only counted
  const CORRECTIONS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "hochberg": "Hochberg's correction",
    "benjamini-hochberg": "the correction of Benjamini and Hochberg",
    "none": "no correction",
  };
  const FAMILY = "the chance that even one of these rejections is wrong is held at ";
  const POSITIVE = " (for independent or positively dependent tests)";
  const GUARANTEES = {
    "holm": (level) => FAMILY + level,
    "bonferroni": (level) => FAMILY + level,
    "hochberg": (level) => FAMILY + level + POSITIVE,
    "benjamini-hochberg": (level) =>
      "the expected share of wrong ones among these rejections is held at " + level + POSITIVE,
    "none": (level) =>
      "each single test errs with probability " + level + ", the whole decision more often",
  };

  // Adjusted p-values of a family, with the very operations of bestofk.adjust.
  function adjust(pvalues, correction) {
    const m = pvalues.length;
    if (correction === "none") return pvalues.slice();
    if (correction === "bonferroni") return pvalues.map((p) => Math.min(p * m, 1));
    const rows = pvalues.map((_, row) => row).sort((a, b) => pvalues[a] - pvalues[b]);
    const adjusted = new Array(m);
    if (correction === "holm") {
      let largest = 0;
      rows.forEach((row, place) => {
        largest = Math.max(largest, pvalues[row] * (m - place));
        adjusted[row] = Math.min(largest, 1);
      });
      return adjusted;
    }
    let smallest = Infinity;
    for (let place = m - 1; place >= 0; place -= 1) {
      const factor = correction === "hochberg" ? m - place : m / (place + 1);
      smallest = Math.min(smallest, pvalues[rows[place]] * factor);
      adjusted[rows[place]] = Math.min(smallest, 1);
    }
    return adjusted;
  }

  // `data.p[i][j]` is the p-value of H0: the loss of i is at most that of j. Learners are the
  // indices of `data.names`; `prior` lists them, most preferred first.
  function multitest(data, { prior, alpha, correction }) {
    const pairs = [];
    for (let i = 0; i < prior.length; i += 1) {
      for (let j = i + 1; j < prior.length; j += 1) pairs.push([prior[i], prior[j]]);
    }
    const adjusted = adjust(pairs.map(([i, j]) => data.p[i][j]), correction);
    const edges = pairs.filter((_, row) => adjusted[row] <= alpha);
    const outgoing = new Map(prior.map((learner) => [learner, 0]));
    const overridden = new Map(prior.map((learner) => [learner, []]));
    for (const [i, j] of edges) {
      outgoing.set(i, outgoing.get(i) + 1);
      overridden.get(j).push(i);
    }
    const order = [];
    const candidates = [];
    let remaining = prior.slice();
    while (remaining.length) {
      const free = remaining.filter((learner) => outgoing.get(learner) === 0);
      const taken = free[0];
      candidates.push(free);
      order.push(taken);
      for (const i of overridden.get(taken)) outgoing.set(i, outgoing.get(i) - 1);
      remaining = remaining.filter((learner) => learner !== taken);
    }
    return {
      prior, alpha, correction, pairs, adjusted, edges, order, candidates,
      standings: standings(data, prior, order[0], alpha, correction),
    };
  }

  // Is the best significantly better than each of the others? In the order of their means.
  function standings(data, prior, best, alpha, correction) {
    const others = prior.filter((learner) => learner !== best);
    const adjusted = adjust(others.map((other) => data.p[other][best]), correction);
    const found = others.map((learner, row) => ({
      learner,
      difference: data.means[learner] - data.means[best],
      pvalue: data.p[learner][best],
      adjusted: adjusted[row],
      verdict: adjusted[row] <= alpha ? "worse" : "tie",
    }));
    return found.sort((a, b) => a.difference - b.difference);
  }

  // Python's format(value, ".{digits}g"): halves go to the even digit.
  function significant(value, digits) {
    if (value === 0) return "0";
    const sign = value < 0 ? "-" : "";
    let [mantissa, power] = Math.abs(value).toExponential(100).split("e");
    let exponent = Number(power);
    const all = mantissa.replace(".", "");
    let kept = all.slice(0, digits).split("").map(Number);
    const rest = all.slice(digits);
    const half = rest[0] === "5" && /^50*$/.test(rest);
    if (half ? kept[digits - 1] % 2 === 1 : Number(rest[0]) >= 5) {
      let place = digits - 1;
      while (place >= 0 && kept[place] === 9) { kept[place] = 0; place -= 1; }
      if (place >= 0) kept[place] += 1;
      else { kept = [1, ...kept.slice(0, -1)]; exponent += 1; }
    }
    const text = kept.join("");
    if (exponent < -4 || exponent >= digits) {
      const tail = text.slice(1).replace(/0+$/, "");
      const size = String(Math.abs(exponent)).padStart(2, "0");
      return sign + text[0] + (tail && "." + tail) + "e" + (exponent < 0 ? "-" : "+") + size;
    }
    const whole = exponent < 0 ? "0" : text.slice(0, exponent + 1);
    const part = exponent < 0 ? "0".repeat(-exponent - 1) + text : text.slice(exponent + 1);
    const tail = part.replace(/0+$/, "");
    return sign + whole + (tail && "." + tail);
  }

  const number = (value) => significant(value, 4);
  const level = (value) => significant(value, 6);

  function pvalueWords(p) {
    if (p === 0) return "p < 1e-300";
    return p >= 0.99995 && p < 1 ? "p > 0.9999" : "p = " + number(p);
  }

  // A sentence is a list of texts and of {learner: index}, so that names stay names.
  const named = (learner) => [{ learner }];

  function joined(items) {
    return items.flatMap((item, place) => {
      if (place === 0) return item;
      return [place === items.length - 1 ? " and " : ", ", ...item];
    });
  }

  function listing(items) {
    if (items.length <= LISTED + 1) return joined(items);
    return joined([...items.slice(0, LISTED), [`${items.length - LISTED} more`]]);
  }

  function chain(learners) {
    const shown = learners.slice(0, 4 * LISTED).map(named);
    if (learners.length > shown.length) shown.push([`... (${learners.length} in all)`]);
    return shown.flatMap((item, place) => (place ? [", ", ...item] : item));
  }

  const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  // The paragraphs of Order.explain() for MultiTest.
  function sentences(data, result) {
    const against = (standing) => [
      { learner: standing.learner },
      ` (${number(data.means[standing.learner])}, ${pvalueWords(standing.adjusted)})`,
    ];
    const best = result.order[0];
    const said = [
      ["MultiTest chooses ", { learner: best }, ` as the best of ${data.names.length} learners.`],
      ["Order, best first: ", ...chain(result.order), "."],
    ];
    const subject = [{ learner: best }, ` (mean loss ${number(data.means[best])})`];
    const worse = result.standings.filter((standing) => standing.verdict === "worse");
    const ties = result.standings.filter((standing) => standing.verdict === "tie");
    if (worse.length) {
      said.push([...subject, " is significantly better than ", ...listing(worse.map(against)), "."]);
    }
    if (ties.length) {
      const smaller = ties.filter((standing) => standing.difference < 0);
      const which = smaller.length
        ? [", and ", ...listing(smaller.map((standing) => named(standing.learner))),
           ` ${smaller.length === 1 ? "has" : "have"} a smaller mean but not significantly so`]
        : [];
      said.push([
        ...(worse.length ? named(best) : subject), " ties with ", ...listing(ties.map(against)),
        ": the data do not show it to be better", ...which, "; the prior decides.",
      ]);
    }
    const prior = ["The prior preference was ", ...chain(result.prior), "."];
    const total = counted(result.pairs.length, "pair");
    if (result.edges.length) {
      const over = result.edges.map(([i, j]) => [{ learner: j }, " over ", { learner: i }]);
      said.push([
        ...prior, ` The data override it in ${result.edges.length} of ${total}: `,
        ...listing(over), ".",
      ]);
    } else {
      said.push([
        ...prior, ` No test overrides it (${total}): the learners stand in prior order.`,
      ]);
    }
    const why = data.testReason ? ` (${data.testReason})` : "";
    said.push([
      `Evidence: ${data.test}, one-sided, alpha = ${level(result.alpha)} with ` +
      `${CORRECTIONS[result.correction]} over ${counted(result.pairs.length, "comparison")}, ` +
      `on ${data.design}${why}. If the test's assumptions hold, ` +
      `${GUARANTEES[result.correction](level(result.alpha))}.`,
    ]);
    return said;
  }

  return { CORRECTIONS, adjust, multitest, sentences, significant, number, level, pvalueWords };
})();
