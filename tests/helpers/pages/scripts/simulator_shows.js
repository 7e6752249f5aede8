// What a reader sees of a simulator, in words and numbers.
export default () =>
  [...document.querySelectorAll(".sd-number, output, [aria-label], .sd-verdict, pre")]
  .map((each) => `${each.textContent}|${each.getAttribute("aria-label")}`).join("\n");
