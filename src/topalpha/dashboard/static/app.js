const log = document.getElementById("log");
const found = await (await fetch("/api/searches")).json();
const name = found.searches.length ? found.searches[0].name : "";
const stream = new EventSource("/api/stream?name=" + encodeURIComponent(name));
for (const kind of ["searches", "state", "missing"]) {
  stream.addEventListener(kind, (event) => { log.textContent = kind + " " + event.data.slice(0, 2000); });
}
