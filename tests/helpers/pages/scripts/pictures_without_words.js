// What is drawn counts as a picture too, unless it is told to be decoration.
export default () => [...document.querySelectorAll("img, svg, canvas, [role=img]")]
  .filter((each) => !each.closest("[aria-hidden=true], [role=presentation], [role=img] *"))
  .filter((each) => each.checkVisibility())
  .filter((each) => !(each.getAttribute("alt") ?? each.getAttribute("aria-label")
    ?? each.getAttribute("title") ?? "").trim())
  .map((each) => each.outerHTML.slice(0, 200));
