// Requests to the server. An answer is JSON; a refusal is a sentence.

export async function request(path, parameters = {}, options = {}) {
  const query = new URLSearchParams(parameters).toString();
  let response;
  try {
    response = await fetch(`api/${path}${query ? `?${query}` : ""}`, options);
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Error("the server does not answer. Is `locant explore` still running?");
  }
  const text = await response.text();
  if (response.ok) return response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text;
  throw new Error(errorMessage(text, response.status));
}

function errorMessage(text, status) {
  try {
    return JSON.parse(text).error;
  } catch {
    return `the server answered with status ${status}. Its terminal says more.`;
  }
}

// Run only the newest request: while one is on its way, only the last of those that follow is sent.
export function latest(work) {
  let busy = false;
  let next = null;
  return async function run(...given) {
    next = given;
    if (busy) return;
    busy = true;
    while (next) {
      const now = next;
      next = null;
      await work(...now);
    }
    busy = false;
  };
}
