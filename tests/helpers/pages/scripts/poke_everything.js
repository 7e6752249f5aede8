// What acts only when somebody points or clicks at it, is pointed and clicked at. Links run in tasks
// of their own, so this ends after the tasks that it has caused.
export default async () => {
  for (const element of document.querySelectorAll('body *')) {
    const acts = [...element.attributes].some((a) => a.name.startsWith('on'));
    if (acts) for (const kind of ['mouseover', 'focus']) element.dispatchEvent(new Event(kind));
    if (element.protocol === 'javascript:') element.click();
  }
  for (let i = 0; i < 2; i++) await new Promise((done) => setTimeout(done));
};
