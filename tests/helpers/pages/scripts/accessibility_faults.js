// A frame is looked at by itself: a simulator's may not talk to the page around it.
export default async (excluded) => {
  const found = await window.axe.run({ exclude: excluded.map((each) => [each]) },
    { resultTypes: ["violations"], iframes: false, rules: { "target-size": { enabled: true } } });
  return found.violations.flatMap(({ id, impact, nodes }) => nodes.map(
    ({ target, failureSummary }) => ({ id, impact, at: target.flat().join(" "), failureSummary })));
};
