// Python in a worker: loaded at the first check, then one visible check a message.

const PYODIDE = "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/";
const SITE_PACKAGES = "/lib/specdec";

let python = null;

const tell = (status) => postMessage({ status });

async function load() {
  tell("Loading Python ...");
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

function check({ number, name, cells }) {
  const result = python.runPython("in_browser.check")(number, name, python.toPy(cells));
  const told = result.toJs({ dict_converter: Object.fromEntries });
  return { kind: told.passed ? "right" : "wrong", ...told };
}

onmessage = async ({ data }) => {
  try {
    python ??= await load();
  } catch (error) {
    const asked = "It comes from cdn.jsdelivr.net: is that reachable?";
    postMessage({ kind: "failed", text: `Python could not be loaded. ${asked} (${error.message})` });
    return;
  }
  tell("Checking ...");
  postMessage({ running: true });
  try {
    postMessage(check(data));
  } catch (error) {
    // What ends Python itself: sys.exit(), or memory that runs out.
    python = null;
    postMessage({ kind: "wrong", text: `Python has ended: ${error.message}` });
  }
};
