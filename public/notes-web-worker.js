// Made by `npm run example` from examples/notes-web.
"use strict";
(() => {
  // examples/notes-web/src/worker.ts
  var worker = globalThis;
  var CACHE = "notes-web";
  var page = worker.registration.scope;
  var FILES = [page, `${page}/notes-web.css`, `${page}/notes-web.js`];
  worker.addEventListener("install", (event) => {
    event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)));
    void worker.skipWaiting();
  });
  worker.addEventListener("fetch", (event) => {
    const { origin, pathname } = new URL(event.request.url);
    const file = origin + pathname;
    if (FILES.includes(file)) event.respondWith(newest(event.request, file));
  });
  async function newest(request, file) {
    const cache = await caches.open(CACHE);
    try {
      const response = await fetch(request);
      if (response.ok) await cache.put(file, response.clone());
      return response;
    } catch (error) {
      const kept = await cache.match(file);
      if (kept) return kept;
      throw error;
    }
  }
})();
