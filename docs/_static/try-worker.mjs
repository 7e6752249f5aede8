// Python in a worker: loaded at the first check, then one visible check a message.

const PYODIDE = "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/";
const SITE_PACKAGES = "/lib/specdec";

let python = null;

const tell = (status) => postMessage({ status });

async function load() {
  tell("Loading Python, some 15 MB the first time ...");
  const { loadPyodide } = await import(`${PYODIDE}pyodide.mjs`);
  const made = await loadPyodide({ indexURL: PYODIDE });
  tell("Loading NumPy ...");
  try {
    await made.loadPackage("numpy", { messageCallback() {}, errorCallback() {} });
  } catch {
    // One exercise can be checked on lists; the others say that they need it.
  }
  const library = await (await fetch(new URL("library.zip", import.meta.url))).arrayBuffer();
  made.unpackArchive(library, "zip", { extractDir: SITE_PACKAGES });
  made.runPython(`import sys; sys.path.insert(0, "${SITE_PACKAGES}")`);
  made.runPython("from specdec_lib.lessons.common import in_browser");
  return made;
}

onmessage = async ({ data: { number, name, sources } }) => {
  try {
    python ??= await load();
  } catch (error) {
    postMessage({ passed: false, message: `Python could not be loaded: ${error.message}` });
    return;
  }
  tell("Checking ...");
  postMessage({ running: true });
  const check = python.runPython("in_browser.check");
  const result = check(number, name, python.toPy(sources)).toJs({ dict_converter: Object.fromEntries });
  postMessage(result);
};
