// Beside a frame: sets its height to what it reports.
addEventListener("message", (event) => {
  for (const frame of document.querySelectorAll("iframe.specdec-simulator")) {
    const height = event.data && event.data.specdecHeight;
    const fits = frame.contentWindow === event.source && height > 0 && height < 5000;
    if (fits) frame.style.height = `${height}px`;
  }
});
