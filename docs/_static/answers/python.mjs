// The page's side of Python: one check at a time, in a worker that can be ended.

const SECONDS = 20; // a check that takes longer is stopped, with the Python that runs it
const NO_WORKER = "This browser did not start the worker in which Python runs.";
const TOO_LONG = `It took longer than ${SECONDS} s and was stopped. Is there a loop that never ends?`;

let worker = null;
let ends = null; // ends the check that runs with a result of its own

/** Whether a check runs now. */
export const isBusy = () => ends !== null;

/** Run a check; `tell` hears what happens meanwhile. Resolves to {kind, text, started}; `kind`
 * is "right", "wrong", "stopped" or "failed". */
export function check(job, tell) {
  worker ??= new Worker(new URL("python-worker.mjs", import.meta.url), { type: "module" });
  return new Promise((resolve) => {
    let timer = null;
    const done = (result) => {
      clearTimeout(timer);
      ends = null;
      resolve(result);
    };
    ends = (text, kind = "stopped") => {
      worker.terminate();
      worker = null;
      done({ kind, text });
    };
    worker.onerror = () => ends(NO_WORKER, "failed");
    worker.onmessage = ({ data }) => {
      if (data.status !== undefined) tell(data.status);
      else if (data.running) timer = setTimeout(() => ends(TOO_LONG), SECONDS * 1000);
      else done(data);
    };
    worker.postMessage(job);
  });
}

/** End the check that runs, and its Python with it. The next check loads another one. */
export const stop = () => ends?.("You stopped it.");
