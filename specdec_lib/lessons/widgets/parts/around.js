// Beside a frame: hides what stands in for frames where no script runs, and sets a frame's height to what it reports.
for (const still of document.querySelectorAll(".specdec-still")) still.hidden = true;
addEventListener("message", (event) => {
  for (const frame of document.querySelectorAll("iframe.specdec-simulator")) {
    const height = event.data && event.data.specdecHeight;
    const fits = frame.contentWindow === event.source && height > 0 && height < 5000;
    if (fits) frame.style.height = `${height}px`;
  }
});
