// Inside a simulator's frame: whether nothing scrolls, it is as high as its body, and no drawing is
// wider than its place.
export default () => {
  const page = document.documentElement;
  const body = Math.ceil(document.body.getBoundingClientRect().height);
  const drawings = [...document.querySelectorAll(".sd-chart svg[role=img]")];
  return page.scrollWidth <= innerWidth && innerHeight === body && page.scrollHeight === body &&
    drawings.every((each) => each.clientWidth <= each.parentElement.clientWidth + 1);
};
