// The view in the address: #tab?name=value&… so that a link restores it.

export function read() {
  const [tab, query = ""] = location.hash.slice(1).split("?");
  return { tab, chosen: Object.fromEntries(new URLSearchParams(query)) };
}

export function write(tab, chosen) {
  const kept = Object.entries(chosen).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = new URLSearchParams(kept).toString();
  history.replaceState(null, "", `#${tab}${query ? `?${query}` : ""}`);
}
