// What the search finds first: guides, then methods, then commands and names, the changelog last.
var Scorer = {  // Sphinx declares it with var, too
  score: ([docname, , , , score]) => score + ([
    [/^(index|start|which-test|trust|slow|questions|cite)$|^use\//, 6],
    [/^(methods|commands)\/|^(words|reference)$/, 3],
    [/^(papers\/|gallery|samples)/, -3],
    [/^changelog$/, -20],
  ].find(([place]) => place.test(docname))?.[1] ?? 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
