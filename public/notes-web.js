// Made by `npm run example` from examples/notes-web and sdk.
// sdk/dist/sync/item-error.js
var ItemError = class extends Error {
  code;
  name = "ItemError";
  constructor(code) {
    super(code === "deleted" ? "The object is in the trash: restore it first." : "There is no such object.");
    this.code = code;
  }
};

// sdk/dist/sync/store.js
var StoreFullError = class extends Error {
  name = "StoreFullError";
  constructor(cause) {
    super("The storage of this device is full.", { cause });
  }
};

// sdk/dist/sync/copy-of.js
var copyOf = (value) => value === void 0 ? value : JSON.parse(JSON.stringify(value));

// sdk/dist/sync/equal.js
function isEqual(a, b) {
  if (Object.is(a, b))
    return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null)
    return false;
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((one, n) => isEqual(one, b[n]));
  const [left, right] = [a, b];
  return [.../* @__PURE__ */ new Set([...Object.keys(left), ...Object.keys(right)])].every((key) => isEqual(left[key], right[key]));
}

// node_modules/diff/libesm/diff/base.js
var Diff = class {
  diff(oldStr, newStr, options = {}) {
    let callback;
    if (typeof options === "function") {
      callback = options;
      options = {};
    } else if ("callback" in options) {
      callback = options.callback;
    }
    const oldString = this.castInput(oldStr, options);
    const newString = this.castInput(newStr, options);
    const oldTokens = this.removeEmpty(this.tokenize(oldString, options));
    const newTokens = this.removeEmpty(this.tokenize(newString, options));
    return this.diffWithOptionsObj(oldTokens, newTokens, options, callback);
  }
  diffWithOptionsObj(oldTokens, newTokens, options, callback) {
    var _a;
    const done = (value) => {
      value = this.postProcess(value, options);
      if (callback) {
        setTimeout(function() {
          callback(value);
        }, 0);
        return void 0;
      } else {
        return value;
      }
    };
    const newLen = newTokens.length, oldLen = oldTokens.length;
    let editLength = 1;
    let maxEditLength = newLen + oldLen;
    if (options.maxEditLength != null) {
      maxEditLength = Math.min(maxEditLength, options.maxEditLength);
    }
    const maxExecutionTime = (_a = options.timeout) !== null && _a !== void 0 ? _a : Infinity;
    const abortAfterTimestamp = Date.now() + maxExecutionTime;
    const bestPath = [{ oldPos: -1, lastComponent: void 0 }];
    let newPos = this.extractCommon(bestPath[0], newTokens, oldTokens, 0, options);
    if (bestPath[0].oldPos + 1 >= oldLen && newPos + 1 >= newLen) {
      return done(this.buildValues(bestPath[0].lastComponent, newTokens, oldTokens));
    }
    let minDiagonalToConsider = -Infinity, maxDiagonalToConsider = Infinity;
    const execEditLength = () => {
      for (let diagonalPath = Math.max(minDiagonalToConsider, -editLength); diagonalPath <= Math.min(maxDiagonalToConsider, editLength); diagonalPath += 2) {
        let basePath;
        const removePath = bestPath[diagonalPath - 1], addPath = bestPath[diagonalPath + 1];
        if (removePath) {
          bestPath[diagonalPath - 1] = void 0;
        }
        let canAdd = false;
        if (addPath) {
          const addPathNewPos = addPath.oldPos - diagonalPath;
          canAdd = addPath && 0 <= addPathNewPos && addPathNewPos < newLen;
        }
        const canRemove = removePath && removePath.oldPos + 1 < oldLen;
        if (!canAdd && !canRemove) {
          bestPath[diagonalPath] = void 0;
          continue;
        }
        if (!canRemove || canAdd && removePath.oldPos < addPath.oldPos) {
          basePath = this.addToPath(addPath, true, false, 0, options);
        } else {
          basePath = this.addToPath(removePath, false, true, 1, options);
        }
        newPos = this.extractCommon(basePath, newTokens, oldTokens, diagonalPath, options);
        if (basePath.oldPos + 1 >= oldLen && newPos + 1 >= newLen) {
          return done(this.buildValues(basePath.lastComponent, newTokens, oldTokens)) || true;
        } else {
          bestPath[diagonalPath] = basePath;
          if (basePath.oldPos + 1 >= oldLen) {
            maxDiagonalToConsider = Math.min(maxDiagonalToConsider, diagonalPath - 1);
          }
          if (newPos + 1 >= newLen) {
            minDiagonalToConsider = Math.max(minDiagonalToConsider, diagonalPath + 1);
          }
        }
      }
      editLength++;
    };
    if (callback) {
      (function exec() {
        setTimeout(function() {
          if (editLength > maxEditLength || Date.now() > abortAfterTimestamp) {
            return callback(void 0);
          }
          if (!execEditLength()) {
            exec();
          }
        }, 0);
      })();
    } else {
      while (editLength <= maxEditLength && Date.now() <= abortAfterTimestamp) {
        const ret = execEditLength();
        if (ret) {
          return ret;
        }
      }
    }
  }
  addToPath(path, added, removed2, oldPosInc, options) {
    const last = path.lastComponent;
    if (last && !options.oneChangePerToken && last.added === added && last.removed === removed2) {
      return {
        oldPos: path.oldPos + oldPosInc,
        lastComponent: { count: last.count + 1, added, removed: removed2, previousComponent: last.previousComponent }
      };
    } else {
      return {
        oldPos: path.oldPos + oldPosInc,
        lastComponent: { count: 1, added, removed: removed2, previousComponent: last }
      };
    }
  }
  extractCommon(basePath, newTokens, oldTokens, diagonalPath, options) {
    const newLen = newTokens.length, oldLen = oldTokens.length;
    let oldPos = basePath.oldPos, newPos = oldPos - diagonalPath, commonCount = 0;
    while (newPos + 1 < newLen && oldPos + 1 < oldLen && this.equals(oldTokens[oldPos + 1], newTokens[newPos + 1], options)) {
      newPos++;
      oldPos++;
      commonCount++;
      if (options.oneChangePerToken) {
        basePath.lastComponent = { count: 1, previousComponent: basePath.lastComponent, added: false, removed: false };
      }
    }
    if (commonCount && !options.oneChangePerToken) {
      basePath.lastComponent = { count: commonCount, previousComponent: basePath.lastComponent, added: false, removed: false };
    }
    basePath.oldPos = oldPos;
    return newPos;
  }
  equals(left, right, options) {
    if (options.comparator) {
      return options.comparator(left, right);
    } else {
      return left === right || !!options.ignoreCase && left.toLowerCase() === right.toLowerCase();
    }
  }
  removeEmpty(array) {
    const ret = [];
    for (let i = 0; i < array.length; i++) {
      if (array[i]) {
        ret.push(array[i]);
      }
    }
    return ret;
  }
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  castInput(value, options) {
    return value;
  }
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  tokenize(value, options) {
    return Array.from(value);
  }
  join(chars) {
    return chars.join("");
  }
  postProcess(changeObjects, options) {
    return changeObjects;
  }
  get useLongestToken() {
    return false;
  }
  buildValues(lastComponent, newTokens, oldTokens) {
    const components = [];
    let nextComponent;
    while (lastComponent) {
      components.push(lastComponent);
      nextComponent = lastComponent.previousComponent;
      delete lastComponent.previousComponent;
      lastComponent = nextComponent;
    }
    components.reverse();
    const componentLen = components.length;
    let componentPos = 0, newPos = 0, oldPos = 0;
    for (; componentPos < componentLen; componentPos++) {
      const component = components[componentPos];
      if (!component.removed) {
        if (!component.added && this.useLongestToken) {
          let value = newTokens.slice(newPos, newPos + component.count);
          value = value.map(function(value2, i) {
            const oldValue = oldTokens[oldPos + i];
            return oldValue.length > value2.length ? oldValue : value2;
          });
          component.value = this.join(value);
        } else {
          component.value = this.join(newTokens.slice(newPos, newPos + component.count));
        }
        newPos += component.count;
        if (!component.added) {
          oldPos += component.count;
        }
      } else {
        component.value = this.join(oldTokens.slice(oldPos, oldPos + component.count));
        oldPos += component.count;
      }
    }
    return components;
  }
};

// node_modules/diff/libesm/diff/array.js
var ArrayDiff = class extends Diff {
  tokenize(value) {
    return value.slice();
  }
  join(value) {
    return value;
  }
  removeEmpty(value) {
    return value;
  }
};
var arrayDiff = new ArrayDiff();
function diffArrays(oldArr, newArr, options) {
  return arrayDiff.diff(oldArr, newArr, options);
}

// sdk/dist/sync/merge/diff3.js
var MAX_EDITS = 500;
function diff3(base, local, server) {
  const [mine, theirs] = [hunksOf(base, local), hunksOf(base, server)];
  if (!mine || !theirs)
    return void 0;
  const merged = [];
  let at = 0;
  while (mine.length > 0 || theirs.length > 0) {
    const region = takeRegion(mine, theirs);
    if (region.start > at)
      merged.push(base.slice(at, region.start));
    merged.push(resolved(base, region));
    at = region.end;
  }
  if (at < base.length)
    merged.push(base.slice(at));
  return merged;
}
function takeRegion(mine, theirs) {
  const [first] = [mine[0], theirs[0]].filter((hunk) => hunk !== void 0).sort((one, other) => one.from - other.from || one.to - other.to);
  const region = { start: first.from, end: first.to, mine: [], theirs: [] };
  const sides = [
    [mine, region.mine],
    [theirs, region.theirs]
  ];
  for (let grows = true; grows; ) {
    grows = false;
    for (const [hunks, taken] of sides)
      while (hunks[0] && (hunks[0] === first || overlaps(hunks[0], region))) {
        const hunk = hunks.shift();
        taken.push(hunk);
        region.end = Math.max(region.end, hunk.to);
        grows = true;
      }
  }
  return region;
}
var overlaps = ({ from, to }, { start, end }) => from < end || from === end && start === end && from === to;
function resolved(base, { start, end, mine, theirs }) {
  if (theirs.length === 0)
    return apply(mine, base, start, end);
  if (mine.length === 0)
    return apply(theirs, base, start, end);
  const [local, server] = [apply(mine, base, start, end), apply(theirs, base, start, end)];
  const isSame = local.length === server.length && local.every((one, n) => one === server[n]);
  return isSame ? local : { base: base.slice(start, end), local, server };
}
function apply(hunks, base, start, end) {
  const result = [];
  let at = start;
  for (const { from, to, by } of hunks) {
    result.push(...base.slice(at, from), ...by);
    at = to;
  }
  return [...result, ...base.slice(at, end)];
}
function hunksOf(base, other) {
  const parts = diffArrays(base, other, { maxEditLength: MAX_EDITS });
  if (!parts)
    return void 0;
  const hunks = [];
  let at = 0;
  let open;
  for (const { added, removed: removed2, value } of parts) {
    if (!added && !removed2) {
      at += value.length;
      open = void 0;
      continue;
    }
    if (!open)
      hunks.push(open = { from: at, to: at, by: [] });
    if (added)
      open.by.push(...value);
    else
      open.to = at += value.length;
  }
  return hunks;
}

// sdk/dist/sync/merge/text.js
var BLOCKS = /[\s\S]*?(?:<\/(?:p|div|h[1-6]|li|tr|pre|blockquote|ul|ol|table)>|<(?:br|hr)\b[^>]*>|$)/gi;
var LINES = /[^\n]*(?:\n|$)/g;
var WORDS = /<[^>]*>|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[^<\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+\s*|\s+|</gu;
var VOID = /* @__PURE__ */ new Set(["area", "br", "col", "hr", "img", "input", "wbr"]);
function mergeText(base, local, server, kind) {
  const [blocks, words] = [split(kind === "html" ? BLOCKS : LINES), split(WORDS)];
  const parts = diff3(blocks(base), blocks(local), blocks(server));
  if (!parts)
    return void 0;
  let collided = false;
  const text = parts.map((part) => {
    if (Array.isArray(part))
      return part.join("");
    const versions = textsOf(part);
    const merged = mergeWords(versions, words, kind);
    if (merged !== void 0)
      return merged;
    collided ||= !isInsertion(part);
    return bothOf(versions, kind);
  }).join("");
  return kind === "html" && !isBalanced(text) ? void 0 : { text, collided };
}
var textsOf = (part) => ({
  base: part.base.join(""),
  local: part.local.join(""),
  server: part.server.join("")
});
var isInsertion = (part) => part.base.length === 0;
function mergeWords({ base, local, server }, words, kind) {
  const parts = diff3(words(base), words(local), words(server));
  if (!parts?.every((part) => Array.isArray(part)))
    return void 0;
  const text = parts.flat().join("");
  return kind === "html" && !isBalanced(text) ? void 0 : text;
}
function bothOf({ local, server }, kind) {
  if (kind === "plain" && server !== "" && local !== "" && !server.endsWith("\n"))
    return `${server}
${local}`;
  return server + local;
}
var split = (pattern) => (text) => (text.match(pattern) ?? []).filter((part) => part !== "");
function isBalanced(html) {
  const open = [];
  for (const [tag, slash, name] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/gi)) {
    const lower = name.toLowerCase();
    if (VOID.has(lower) || tag.endsWith("/>"))
      continue;
    if (slash === "")
      open.push(lower);
    else if (open.pop() !== lower)
      return false;
  }
  return open.length === 0;
}

// sdk/dist/sync/merge/fields.js
var byDefault = ({ merged }) => merged;
function mergeField({ base, local, server }, text, decide) {
  if (isNames(local) && isNames(server))
    return mergeNames(isNames(base) ? base : [], local, server);
  if (text === void 0 || !isText(local) || !isText(server))
    return decide(local);
  const merged = mergeText(isText(base) ? base : "", local, server, text);
  if (!merged)
    return decide(local);
  return merged.collided ? decide(merged.text) : merged.text;
}
var isText = (value) => typeof value === "string";
var isNames = (value) => Array.isArray(value) && value.every(isText);
function mergeNames(base, local, server) {
  if (isEqual(local, server))
    return server;
  const kept = server.filter((name) => local.includes(name) || !base.includes(name));
  return [...kept, ...local.filter((name) => !base.includes(name) && !kept.includes(name))];
}

// sdk/dist/sync/rows/changes.js
function created(feed, id, fields) {
  return { feed, id, open: { create: true, fields, base: {} } };
}
function edited(row, fields, rules, seen) {
  const shown = visible(row, rules) ?? {};
  const about = { collection: rules.collection, scope: rules.scope, id: row.id };
  const news = Object.entries(fields).map(([name, value]) => seen ? [name, valueOf(about, name, value, seen[name], shown[name], rules)] : [name, value]).filter(([name, value]) => !isEqual(value, shown[name]));
  if (news.length === 0)
    return row;
  const open = { ...row.open, fields: { ...row.open?.fields }, base: { ...row.open?.base } };
  for (const [name, value] of news) {
    if (!(name in open.fields))
      open.base[name] = below(row, name);
    open.fields[name] = value;
  }
  return row.gone ? { ...row, open } : without({ ...row, open }, "problem");
}
var below = (row, name) => row.sent?.change.fields && name in row.sent.change.fields ? row.sent.change.fields[name] : row.server?.[name];
function removed(row, { hasTrash }) {
  if (row.open?.create && !row.sent || row.gone)
    return void 0;
  const open = { ...row.open, remove: true };
  if (row.server?.["revision"] !== void 0)
    open.revision = row.server["revision"];
  const kept = hasTrash ? open : without(open, "fields", "base");
  return without({ ...row, open: kept }, "problem");
}
function restored(row, rules) {
  if (row.open?.remove)
    return tidy({ ...row, open: without(row.open, "remove", "revision") });
  const isDeleted = visible(row, rules)?.["deleted"] === true;
  return isDeleted ? without({ ...row, open: { ...row.open, restore: true } }, "problem") : row;
}
function frozen(row, key) {
  const [first, rest] = parted(row.open ?? {});
  const sent = { key, change: first, ...row.server && { revision: row.server["revision"] } };
  return tidy({ ...row, sent, open: rest });
}
function parted({ create: create2, restore, fields, base, remove, revision }) {
  const removal = remove ? { remove, ...revision !== void 0 && { revision } } : {};
  const edit = fields ? { fields, base: base ?? {} } : {};
  if (create2)
    return [{ create: create2, fields: fields ?? {} }, removal];
  if (restore)
    return [{ restore }, { ...edit, ...removal }];
  return fields ? [edit, removal] : [removal, {}];
}
function answered(row, outcome, rules) {
  if (!row.sent || outcome.kind === "wait")
    return row;
  const { kind } = outcome;
  if (kind === "done") {
    const done = outcome.revision === void 0 ? {} : { revision: outcome.revision };
    return { ...row, sent: { ...row.sent, done } };
  }
  const open = unsent(row);
  return kind === "conflict" ? rebased(open, rules) : { ...open, problem: outcome.problem };
}
function unsent({ sent, ...row }) {
  const { change } = sent;
  const open = { ...change, ...row.open };
  if (change.fields || row.open?.fields) {
    open.fields = { ...change.fields, ...row.open?.fields };
    open.base = { ...row.open?.base, ...change.base };
  }
  return tidy({ ...row, open });
}
function received(row, item, rules) {
  if (!item)
    return lost(row);
  const known = without({ ...row, server: item }, "gone", ...row.gone ? ["problem"] : []);
  return known.sent ? known : rebased(known, rules);
}
function lost(row) {
  const { sent, open } = row;
  if (sent?.change.create && !sent.done || open?.create)
    return without(row, "server");
  const left = sent && !sent.done ? unsent(row) : without(row, "sent");
  if (!left.open?.fields)
    return void 0;
  const server = left.server ?? sent?.change.fields;
  const message = "The object is deleted, or no longer shared with you.";
  const problem = { status: 404, code: "removed", message };
  return { ...left, ...server && { server }, gone: true, problem };
}
function settled(row, rules) {
  const { sent } = row;
  if (!sent?.done)
    return row;
  if (!row.server)
    return lost(row);
  const rest = tidy(without(row, "sent"));
  const isOwn = sent.done.revision !== void 0 && row.server["revision"] === sent.done.revision;
  return isOwn && rest.open ? { ...rest, open: basedOn(rest.open, row.server) } : rebased(rest, rules);
}
function basedOn(open, server) {
  const names = Object.keys(open.base ?? {});
  const base = open.base && Object.fromEntries(names.map((name) => [name, server[name]]));
  const revision = open.remove && { revision: server["revision"] };
  return { ...open, ...base && { base }, ...revision };
}
function rebased(row, rules) {
  const { open, server } = row;
  if (!open || !server)
    return row;
  const about = { collection: rules.collection, scope: rules.scope, id: row.id };
  const next = basedOn(open, server);
  delete next.create;
  if (open.fields) {
    const kept = Object.entries(open.fields).map(([field, local]) => [
      field,
      valueOf(about, field, local, open.base?.[field], server[field], rules)
    ]).filter(([field, value]) => !isEqual(value, server[field]));
    next.fields = Object.fromEntries(kept);
    next.base = Object.fromEntries(kept.map(([field]) => [field, server[field]]));
  }
  if (open.remove && open.revision !== server["revision"]) {
    const conflict = { ...about, kind: "removal", server, merged: rules.hasTrash };
    if (rules.resolve(conflict) !== true)
      delete next.remove;
  }
  return tidy({ ...row, open: next });
}
function valueOf(about, field, local, base, server, { texts, resolve }) {
  if (isEqual(server, base) || isEqual(local, server))
    return local;
  if (isEqual(local, base))
    return server;
  return mergeField({ base, local, server }, texts[field], (merged) => resolve({ ...about, kind: "field", field, base, local, server, merged }));
}
var retried = (row) => row.gone ? row : without(row, "problem");
function discarded(row) {
  if (!row.server || row.gone)
    return row.sent ? without(row, "open", "problem") : void 0;
  return without(row, "open", "problem");
}
function visible(row, { hasTrash, idField }) {
  const { server, sent, open } = row;
  const isKnown2 = server !== void 0 || sent?.change.create || open?.create;
  if (!isKnown2)
    return void 0;
  const item = { ...server, [idField]: row.id };
  let isRemoved = false;
  for (const change of [sent?.change, open]) {
    if (change?.restore)
      item["deleted"] = false;
    Object.assign(item, change?.fields);
    if (change?.remove && hasTrash)
      item["deleted"] = true;
    isRemoved ||= change?.remove === true && !hasTrash;
  }
  return isRemoved ? void 0 : item;
}
var isSendable = ({ sent, open, problem }) => !problem && (sent ? !sent.done : open !== void 0);
function tidy(row) {
  const { open } = row;
  if (!open)
    return row;
  const isEmptyEdit = open.fields && Object.keys(open.fields).length === 0 && !open.create;
  const change = isEmptyEdit ? without(open, "fields", "base") : open;
  const isEmpty = !(change.create || change.restore || change.fields || change.remove);
  return isEmpty ? without(row, "open") : { ...row, open: change };
}
function without(object, ...names) {
  const copy = { ...object };
  for (const name of names)
    delete copy[name];
  return copy;
}

// sdk/dist/sync/tabs/channel.js
var Channel = class {
  listeners = /* @__PURE__ */ new Set();
  others;
  /** @param name of the store; undefined: no other tab uses it */
  constructor(name) {
    if (name === void 0 || typeof BroadcastChannel !== "function")
      return;
    this.others = new BroadcastChannel(`workspace-sync ${name}`);
    this.others.addEventListener("message", ({ data }) => this.deliver(data));
    this.others.unref?.();
  }
  /** @returns a function that removes the listener */
  on(listener) {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
  send(message) {
    this.others?.postMessage(message);
    this.deliver(message);
  }
  close() {
    this.listeners.clear();
    this.others?.close();
  }
  deliver(message) {
    for (const listener of this.listeners)
      listener(message);
  }
};

// sdk/dist/sync/rows/each-row.js
var PAGE = 200;
function eachRow(tx, feed) {
  return pages("", (after) => tx.rows(feed, after, PAGE), ({ id }) => id);
}
function eachPending(tx, first = 0) {
  return pages(first, (after) => tx.pending(after, PAGE), ({ place }) => place);
}
async function* pages(first, read, keyOf) {
  for (let after = first; ; ) {
    const rows = await read(after);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE)
      return;
    after = keyOf(last);
  }
}

// sdk/dist/sync/live.js
async function readItems(rows, feed, query) {
  const rules = rows.rulesOf(feed);
  const isEnough = ({ length }) => !query.sort && query.limit !== void 0 && length >= query.limit;
  const items = await rows.read(async (tx) => {
    const found = [];
    for await (const row of eachRow(tx, feed)) {
      if (isEnough(found))
        break;
      const item = visible(row, rules);
      if (item && matches(item, query))
        found.push(item);
    }
    return found;
  });
  return ordered(items, query);
}
function matches(item, { where, trash = false }) {
  return item["deleted"] === true === trash && (where?.(item) ?? true);
}
function ordered(items, { sort, limit }) {
  return (sort ? [...items].sort(sort) : items).slice(0, limit);
}
var LiveItems = class {
  rows;
  feed;
  query;
  listener;
  onError;
  items = /* @__PURE__ */ new Map();
  working = Promise.resolve();
  isClosed = false;
  unsubscribe;
  /** @param onError the store cannot be read: the result stays what it was until the next change */
  constructor(rows, channel, feed, query, listener, onError) {
    this.rows = rows;
    this.feed = feed;
    this.query = query;
    this.listener = listener;
    this.onError = onError;
    this.unsubscribe = channel.on((message) => {
      const ids = message.kind === "changed" ? message.changed[feed] : void 0;
      if (ids)
        this.enqueue(() => this.follow(ids));
    });
    this.enqueue(() => this.begin());
  }
  close() {
    this.isClosed = true;
    this.unsubscribe();
  }
  enqueue(work) {
    this.working = this.working.then(work).catch(this.onError);
  }
  async begin() {
    const rules = this.rows.rulesOf(this.feed);
    await this.rows.read(async (tx) => {
      for await (const row of eachRow(tx, this.feed))
        this.take(row.id, visible(row, rules));
    });
    this.emit();
  }
  async follow(ids) {
    if (this.isClosed)
      return;
    const rules = this.rows.rulesOf(this.feed);
    const found = await this.rows.read((tx) => Promise.all([...new Set(ids)].map((id) => tx.get(this.feed, id))));
    const known = new Map(found.map((row) => [row?.id, row]));
    const changes2 = [...new Set(ids)].map((id) => {
      const row = known.get(id);
      return this.take(id, row && visible(row, rules));
    });
    if (changes2.includes(true))
      this.emit();
  }
  /** @returns whether the result changes */
  take(id, item) {
    const before = this.items.get(id);
    if (!item || !matches(item, this.query))
      return this.items.delete(id);
    this.items.set(id, item);
    return !isEqual(before, item);
  }
  emit() {
    if (this.isClosed)
      return;
    const items = copyOf([...this.items].sort(([a], [b]) => a < b ? -1 : 1).map(([, item]) => item));
    this.listener(ordered(items, this.query));
  }
};

// sdk/dist/random-key.js
function randomKey() {
  if (typeof globalThis.crypto?.getRandomValues !== "function")
    throw new Error("This platform has no crypto.getRandomValues. Import a polyfill first, such as react-native-get-random-values.");
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// sdk/dist/sync/random-uuid.js
function randomUuid() {
  const digits = randomKey();
  const variant = "89ab"[Number.parseInt(digits[16], 16) % 4];
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20)
  ].join("-");
}

// sdk/dist/sync/collection.js
var Collection = class {
  rows;
  channel;
  feed;
  constructor(rows, channel, feed) {
    this.rows = rows;
    this.channel = channel;
    this.feed = feed;
  }
  /** Reads an object. @returns undefined for an unknown or deleted one */
  async get(id) {
    const row = await this.rows.read((tx) => tx.get(this.feed, id));
    return row && visible(row, this.rows.rulesOf(this.feed));
  }
  /** Reads the objects that match, once. */
  list(query = {}) {
    return readItems(this.rows, this.feed, query);
  }
  /**
   * Calls a listener with the result of a query, now and whenever it changes.
   * @returns a function that ends it
   */
  live(query, listener, onError = (error) => console.error(error)) {
    const items = new LiveItems(this.rows, this.channel, this.feed, query, listener, onError);
    return () => items.close();
  }
  /**
   * @param id default: a new one
   * @returns the id
   */
  async create(fields, id = randomUuid()) {
    await this.save(id, (row) => {
      if (row)
        throw new Error(`The id ${id} is in use.`);
      return created(this.feed, id, copyOf(fields));
    });
    return id;
  }
  /**
   * @param seen the item that the caller edited, such as the one that a form was filled with. Later changes of the item are merged.
   *   Default: the item as it is now
   * @throws ItemError
   */
  update(id, fields, seen) {
    return this.save(id, (row) => edited(this.present(row), copyOf(fields), this.rows.rulesOf(this.feed), seen));
  }
  /** Moves the object into the trash, where its collection has one. @throws ItemError */
  remove(id) {
    return this.save(id, (row) => removed(this.present(row), this.rows.rulesOf(this.feed)));
  }
  /** Takes the object out of the trash. @throws ItemError */
  restore(id) {
    return this.save(id, (row) => {
      if (!row)
        throw new ItemError("not_found");
      return restored(row, this.rows.rulesOf(this.feed));
    });
  }
  /** Sends a change again that the service has rejected. */
  retry(id) {
    return this.save(id, (row) => row && retried(row));
  }
  /** Discards the unsent changes of an object. */
  discard(id) {
    return this.save(id, (row) => row && discarded(row));
  }
  async save(id, step) {
    await this.rows.change((edit) => edit.step(this.feed, id, step));
    this.channel.send({ kind: "saved" });
  }
  present(row) {
    const item = row && visible(row, this.rows.rulesOf(this.feed));
    if (!item)
      throw new ItemError("not_found");
    if (item["deleted"] === true)
      throw new ItemError("deleted");
    return row;
  }
};

// sdk/dist/sync/collections.js
var ORDINARY = {
  idField: "id",
  update: "PATCH",
  hasTrash: false,
  hasDevice: true,
  texts: {}
};
var REPLACED = { ...ORDINARY, update: "PUT", hasDevice: false };
var COLLECTIONS = {
  note_folders: { ...ORDINARY, path: () => "/note_folders", itemKey: "note_folder" },
  notes: { ...ORDINARY, path: () => "/notes", itemKey: "note", hasTrash: true, texts: { content: "html" } },
  task_folders: { ...ORDINARY, path: () => "/task_folders", itemKey: "task_folder" },
  tasks: {
    ...ORDINARY,
    path: () => "/tasks",
    itemKey: "task",
    hasTrash: true,
    texts: { description: "html" }
  },
  calendars: {
    ...REPLACED,
    path: () => "/calendar",
    itemKey: "calendar",
    texts: { description: "plain" }
  },
  events: {
    ...REPLACED,
    path: (calendarId) => `/calendar/${calendarId}/events`,
    itemKey: "event",
    container: "calendars",
    texts: { description: "plain" }
  },
  addressbooks: {
    ...REPLACED,
    path: () => "/contact/addressbooks",
    itemKey: "addressbook",
    texts: { description: "plain" }
  },
  contacts: {
    ...REPLACED,
    path: (bookId) => `/contact/addressbooks/${bookId}/contacts`,
    itemKey: "contact",
    idField: "external_id",
    container: "addressbooks",
    texts: { notes: "plain" }
  }
};
var ALL_COLLECTIONS = Object.keys(COLLECTIONS);
var feedOf = (name, scope) => scope === void 0 ? name : `${name}/${scope}`;
function partsOf(feed) {
  const at = feed.indexOf("/");
  if (at < 0)
    return { name: feed, scope: void 0 };
  return { name: feed.slice(0, at), scope: feed.slice(at + 1) };
}

// sdk/dist/sync/tabs/leader.js
var locksOf = () => (globalThis.navigator ?? {}).locks;
function checkLeadership(name) {
  if (name === void 0 || locksOf())
    return;
  throw new Error("Tabs cannot share the store without Web Locks, which browsers have on pages with HTTPS only.");
}
async function lead(name, signal2, work) {
  const locks = locksOf();
  if (name === void 0 || !locks)
    return work();
  try {
    await locks.request(`workspace-sync ${name}`, { signal: signal2 }, work);
  } catch (error) {
    if (!signal2.aborted)
      throw error;
  }
}

// sdk/dist/sync/rows/order.js
var NAMED = ["note_folders", "notes", "task_folders", "tasks", "calendars"];
var UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
async function missingOf(tx, row) {
  const { name, scope } = partsOf(row.feed);
  const { container } = COLLECTIONS[name];
  if (container && scope !== void 0 && await isUncreated(tx, container, scope))
    return scope;
  for (const id of new Set(idsIn((row.sent?.change ?? row.open)?.fields)))
    if (id !== row.id && await isMissing(tx, row.feed, id))
      return id;
  return void 0;
}
async function isMissing(tx, feed, id) {
  for (const one of /* @__PURE__ */ new Set([feed, ...NAMED.map((name) => feedOf(name))]))
    if (await isUncreated(tx, one, id))
      return true;
  return false;
}
async function isUncreated(tx, feed, id) {
  const row = await tx.get(feed, id);
  return row?.open?.create === true || row?.sent?.change.create === true && !row.sent.done;
}
function* idsIn(value) {
  if (typeof value === "string" && UUID.test(value))
    yield value;
  if (typeof value === "object" && value !== null)
    for (const one of Object.values(value))
      yield* idsIn(one);
}

// sdk/dist/retry-after.js
function secondsOf(text) {
  if (text === null)
    return void 0;
  if (/^\s*\d+\s*$/.test(text))
    return Number(text);
  const time = Date.parse(text);
  return Number.isNaN(time) ? void 0 : Math.max(0, (time - Date.now()) / 1e3);
}

// sdk/dist/errors.js
var ApiError = class extends Error {
  body;
  response;
  name = "ApiError";
  status;
  /** A stable code for programs. `http_<status>` if the response has no JSON body. */
  code;
  /** Seconds until the next attempt, if the response names them. */
  retryAfter;
  constructor(body, response) {
    const { error, message } = typeof body === "object" && body !== null ? body : {};
    super(typeof message === "string" ? message : `The response has the status ${response.status}.`);
    this.body = body;
    this.response = response;
    this.status = response.status;
    this.code = typeof error === "string" ? error : `http_${response.status}`;
    this.retryAfter = secondsOf(response.headers.get("Retry-After"));
  }
};
function unwrap(result) {
  if (!result.response.ok)
    throw new ApiError(result.error, result.response);
  return result.data;
}

// sdk/dist/sync/exchange/batch.js
var withoutPrefer = /* @__PURE__ */ new WeakSet();
async function runBatch(client2, mode, requests, signal2) {
  const run2 = async (prefers2) => {
    const body = { mode, requests: requests.map((request) => inBatch(request, prefers2)) };
    return unwrap(await client2.POST("/batch", { body, signal: signal2 }));
  };
  const prefers = !withoutPrefer.has(client2);
  const { responses } = await run2(prefers).catch((error) => {
    if (!prefers || !rejectsPrefer(error))
      throw error;
    withoutPrefer.add(client2);
    return run2(false);
  });
  return responses.map(({ status, headers, body }) => {
    const revision = /:r(\d+)"$/.exec(headers["etag"] ?? "")?.[1];
    return { status, body: body ?? {}, ...revision !== void 0 && { revision: Number(revision) } };
  });
}
var inBatch = ({ method, path, body, key }, prefers) => ({
  method,
  path: `/apis/v1${path}`,
  ...body && { body },
  // The feed has the result.
  ...key !== void 0 && {
    headers: { "Idempotency-Key": key, ...prefers && { Prefer: "return=minimal" } }
  }
});
function rejectsPrefer(error) {
  if (!(error instanceof ApiError) || error.code !== "validation_failed")
    return false;
  const { details } = error.body;
  return details?.some(({ field }) => field.endsWith(".headers.Prefer")) ?? false;
}

// sdk/dist/sync/exchange/read-ahead.js
var ReadAhead = class {
  client;
  signal;
  next;
  constructor(client2, signal2) {
    this.client = client2;
    this.signal = signal2;
  }
  /** @throws ApiError, Error if there is no response */
  read(requests) {
    const { next } = this;
    if (next?.key === JSON.stringify(requests)) {
      this.next = void 0;
      return next.responses;
    }
    this.end();
    return runBatch(this.client, "independent", requests, this.signal);
  }
  /** Sends the requests that `read` will probably get next. */
  begin(requests) {
    if (requests.length === 0 || this.signal.aborted)
      return;
    const abort2 = new AbortController();
    const end = () => abort2.abort(this.signal.reason);
    this.signal.addEventListener("abort", end);
    const responses = runBatch(this.client, "independent", requests, abort2.signal).finally(() => this.signal.removeEventListener("abort", end));
    responses.catch(() => void 0);
    this.next = { key: JSON.stringify(requests), responses, abort: abort2 };
  }
  /** Aborts the request that runs ahead, if no call of `read` takes its responses. */
  end() {
    this.next?.abort.abort();
    this.next = void 0;
  }
};

// sdk/dist/sync/exchange/feeds.js
var LIMIT = 500;
var LIST_LIMIT = 200;
function withQuery(path, query) {
  const entries = Object.entries(query).filter(([, value]) => value !== void 0);
  return `${path}?${new URLSearchParams(entries).toString()}`;
}
var get = (path, query) => ({
  method: "GET",
  path: withQuery(path, query)
});
var ownFeed = (name) => ({
  request: (_scope, { cursor, walk, bodies, isBare }) => walk === void 0 ? get(`/${name}/changes`, { cursor, limit: LIMIT, include: isBare ? "summary" : "content" }) : get(`/${name}/index`, {
    cursor,
    limit: LIMIT,
    include: bodies || !(name in BODIES) ? "content" : "summary"
  }),
  page: (body) => ({
    changes: body[name].map((item) => item.removed ? { id: item.id } : { id: item.id, item }),
    cursor: body["cursor"],
    hasMore: body["has_more"]
  })
});
var list = (path, key, query = {}) => ({
  isList: true,
  request: (_scope, { cursor }) => get(path, { ...query, cursor }),
  page: (body) => ({
    changes: body[key].map((item) => ({ id: item.id, item })),
    cursor: body["next"] ?? void 0,
    hasMore: body["next"] !== null
  })
});
var contacts = {
  request: (bookId, { cursor }) => get(`/contact/addressbooks/${bookId}/contacts/sync`, { cursor, limit: LIMIT }),
  page: (body) => ({
    changes: body["changes"].map((change) => change.op === "delete" ? { id: change.external_id } : { id: change.contact["external_id"], item: change.contact }),
    cursor: body["cursor"],
    hasMore: body["has_more"]
  })
};
var events = {
  request: (calendarId, { cursor }) => ({
    method: "POST",
    path: `/calendar/${calendarId}/sync`,
    body: { sync_token: cursor ?? null, limit: LIMIT }
  }),
  page: (body) => ({
    changes: body["changes"].map((change) => change.op === "delete" ? { id: change.event_id } : { id: change.event["id"], item: { ...change.event, overrides: change.overrides ?? [] } }),
    cursor: body["sync_token"],
    hasMore: body["more"]
  })
};
var FEEDS = {
  notes: ownFeed("notes"),
  note_folders: ownFeed("note_folders"),
  tasks: ownFeed("tasks"),
  task_folders: ownFeed("task_folders"),
  calendars: list("/calendar", "calendars", { include: "hidden", limit: LIST_LIMIT }),
  addressbooks: list("/contact/useraddressbooks", "addressbooks"),
  events,
  contacts
};
var isList = (name) => FEEDS[name].isList === true;
function requestOf(feed, read) {
  const { name, scope = "" } = partsOf(feed);
  return FEEDS[name].request(scope, read);
}
var pageOf = (feed, body) => FEEDS[partsOf(feed).name].page(body);
var BODIES = { notes: "content" };
function keepsBody({ feed, sent }) {
  const body = BODIES[feed];
  if (body === void 0 || sent?.done?.revision === void 0)
    return false;
  const { create: create2, restore, fields } = sent.change;
  return !create2 && !restore && !(body in (fields ?? {}));
}
function isKnown(feed, item, row) {
  const body = BODIES[feed];
  if (body === void 0)
    return true;
  const copy = row?.server;
  if (!row || !copy || !(body in copy) || copy["created_at"] !== item["created_at"])
    return false;
  const { revision } = copy;
  const isOwnWrite = row.sent?.done?.revision === item["revision"] && row.sent?.revision === revision;
  return revision === item["revision"] || isOwnWrite && keepsBody(row);
}
function withBody(feed, item, copy) {
  const body = BODIES[feed];
  return body === void 0 || body in item || !copy ? item : { ...item, [body]: copy[body] };
}

// sdk/dist/sync/rows/rows.js
var LAST_PLACE = "place";
var stateKey = (feed) => `feed ${feed}`;
var Rows = class {
  store;
  resolve;
  onChanged;
  rules = /* @__PURE__ */ new Map();
  constructor(store2, resolve, onChanged) {
    this.store = store2;
    this.resolve = resolve;
    this.onChanged = onChanged;
  }
  rulesOf(feed) {
    let rules = this.rules.get(feed);
    if (!rules) {
      const { name, scope } = partsOf(feed);
      const { idField, hasTrash, texts } = COLLECTIONS[name];
      rules = { collection: name, scope, idField, hasTrash, texts, resolve: this.resolve };
      this.rules.set(feed, rules);
    }
    return rules;
  }
  read(work) {
    return this.store.transaction("read", work);
  }
  /** Changes rows in one durable transaction, and reports them after it. */
  change(work) {
    return this.run("write", work);
  }
  /**
   * Does what `change` does, for results that the service delivers again: after a loss of power, feeds and requests continue from the last
   * stored state.
   */
  receive(work) {
    return this.run("relaxed", work);
  }
  async run(mode, work) {
    const edits = [];
    const result = await this.store.transaction(mode, (tx) => {
      const edit = new RowsEdit(tx, (feed) => this.rulesOf(feed));
      edits.push(edit);
      return work(edit);
    });
    const changed = edits.at(-1).changed;
    if (Object.keys(changed).length > 0)
      this.onChanged(changed);
    return result;
  }
};
var RowsEdit = class {
  tx;
  rulesOf;
  changed = {};
  constructor(tx, rulesOf) {
    this.tx = tx;
    this.rulesOf = rulesOf;
  }
  /** @param step returns the row as it is without a change, undefined to delete it */
  async step(feed, id, step) {
    const before = await this.tx.get(feed, id);
    return this.replace(before, step(before, this.rulesOf(feed)));
  }
  /** Stores a row that was read in this transaction. */
  async replace(before, after) {
    if (before === after)
      return after;
    const { feed, id } = after ?? before;
    (this.changed[feed] ??= []).push(id);
    if (!after) {
      await this.tx.delete(feed, id);
      return void 0;
    }
    const placed = await this.placed(before, after);
    await this.tx.put(placed);
    return placed;
  }
  async feedState(feed) {
    return await this.tx.readMeta(stateKey(feed));
  }
  setFeedState(feed, state) {
    return this.tx.writeMeta(stateKey(feed), state);
  }
  /** A removal comes after everything that was saved before it, also by the place of an earlier change of the object. */
  async placed(before, { place, ...row }) {
    if (!row.sent && !row.open)
      return row;
    const isNewRemoval = row.open?.remove === true && !before?.open?.remove;
    if (place !== void 0 && !isNewRemoval)
      return { ...row, place };
    const next = (await this.tx.readMeta(LAST_PLACE) ?? 0) + 1;
    await this.tx.writeMeta(LAST_PLACE, next);
    return { ...row, place: next };
  }
};
async function readFeedState(tx, feed) {
  return await tx.readMeta(stateKey(feed));
}

// sdk/dist/sync/exchange/puller.js
var FEEDS_AT_ONCE = 4;
var LIST_AGE_MS = 3e5;
var CONTAINED = {
  calendars: "events",
  addressbooks: "contacts"
};
var HEADS_OF = { events: "calendars", contacts: "contacts" };
var Puller = class {
  client;
  rows;
  names;
  listed = /* @__PURE__ */ new Map();
  constructor(client2, rows, names) {
    this.client = client2;
    this.rows = rows;
    this.names = names;
  }
  /**
   * Reads each feed that has changed, or that must show the result of a write, to its end.
   * @param heads read before
   * @throws ApiError, Error if there is no response; the pages before it are stored
   */
  async pull(heads, signal2) {
    const own = [...this.names].filter((name) => !COLLECTIONS[name].container);
    await this.pullAll(own, heads, signal2);
    const scoped = await this.rows.read(async (tx) => {
      const feeds = [];
      for (const name of own) {
        const contained = CONTAINED[name];
        if (!contained || !this.names.has(contained))
          continue;
        for await (const { id, server } of eachRow(tx, name))
          if (server)
            feeds.push(feedOf(contained, id));
      }
      return feeds;
    });
    await this.pullAll(scoped, heads, signal2);
  }
  /** Reads lists again, too. */
  refresh() {
    this.listed.clear();
  }
  async pullAll(feeds, heads, signal2) {
    const { feeds: changed, bare } = await this.dueOf(feeds, heads);
    let due = changed;
    for (const feed of due.filter(isListed))
      await this.rows.receive((edit) => startWalk(edit, feed));
    const pages2 = new ReadAhead(this.client, signal2);
    let failure;
    try {
      while (due.length > 0) {
        const now = due.slice(0, FEEDS_AT_ONCE);
        const reads = await Promise.all(now.map(async (feed) => ({
          ...await this.begin(feed),
          isBare: bare.has(feed)
        })));
        const responses = await pages2.read(now.map((feed, n) => requestOf(feed, reads[n])));
        pages2.begin(now.flatMap((feed, n) => followingOf(feed, reads[n], responses[n])));
        const ended = /* @__PURE__ */ new Set();
        for (const [n, feed] of now.entries()) {
          const { status, body } = responses[n];
          if (isUnreadable(status)) {
            failure ??= new ApiError(body, new Response(null, { status }));
            ended.add(feed);
            continue;
          }
          const outcome = await this.take(feed, reads[n], responses[n], heads);
          if (outcome === "incomplete")
            bare.delete(feed);
          if (outcome === "end")
            ended.add(feed);
        }
        due = due.filter((feed) => !ended.has(feed));
      }
    } finally {
      pages2.end();
    }
    if (failure)
      throw failure;
  }
  /** @returns the feeds to be read, and among them those whose pages need no bodies, as far as the device knows */
  dueOf(feeds, heads) {
    return this.rows.read(async (tx) => {
      const written = /* @__PURE__ */ new Set();
      const withBodies = /* @__PURE__ */ new Set();
      for await (const row of eachPending(tx)) {
        if (!row.sent?.done)
          continue;
        written.add(row.feed);
        if (!keepsBody(row))
          withBodies.add(row.feed);
      }
      const due = [];
      for (const feed of feeds) {
        const state = await readFeedState(tx, feed);
        if (written.has(feed) || this.hasChanged(feed, state, heads))
          due.push(feed);
      }
      return { feeds: due, bare: new Set([...written].filter((feed) => !withBodies.has(feed))) };
    });
  }
  hasChanged(feed, state, heads) {
    if (!isListed(feed))
      return state?.seen !== numberOf(feed, heads);
    const last = this.listed.get(feed);
    return !last || last.at + LIST_AGE_MS < Date.now() || last.heads !== headsOf(feed, heads);
  }
  /** A feed without a position is read from the beginning. */
  async begin(feed) {
    const state = await this.rows.read((tx) => readFeedState(tx, feed));
    const isBegun = state?.cursor !== void 0 || state?.walk !== void 0;
    return state && isBegun ? state : this.rows.receive((edit) => startWalk(edit, feed));
  }
  async take(feed, asked, { status, body }, heads) {
    if (status === 410) {
      await this.rows.receive((edit) => startWalk(edit, feed));
      return "more";
    }
    if (status === 404) {
      await this.rows.receive((edit) => drop(edit, feed));
      return "end";
    }
    if (status === 403)
      return "end";
    const page2 = pageOf(feed, body);
    const taken = await this.rows.receive((edit) => store(edit, feed, asked, page2, numberOf(feed, heads)));
    if (taken === "end" && isListed(feed))
      this.listed.set(feed, { at: Date.now(), heads: headsOf(feed, heads) });
    return taken;
  }
};
function followingOf(feed, asked, { status, body }) {
  if (status !== 200)
    return [];
  const { cursor, hasMore } = pageOf(feed, body);
  return hasMore ? [requestOf(feed, { ...asked, ...cursor !== void 0 && { cursor } })] : [];
}
var isListed = (feed) => isList(partsOf(feed).name);
var isUnreadable = (status) => status !== 200 && ![403, 404, 410].includes(status);
async function startWalk(edit, feed) {
  const walk = ((await edit.feedState(feed))?.walks ?? 0) + 1;
  const isEmpty = (await edit.tx.rows(feed, "", 1)).length === 0;
  const begun = { walk, walks: walk, ...isEmpty && { bodies: true } };
  await edit.setFeedState(feed, begun);
  return begun;
}
async function store(edit, feed, { isBare = false, ...asked }, page2, seen) {
  const { walk, walks } = asked;
  const areKnown = (walk !== void 0 || isBare) && await hasBodies(edit, feed, page2);
  if (walk === void 0 && isBare && !areKnown)
    return "incomplete";
  if (walk !== void 0 && !areKnown && !asked.bodies && isWalkOfIndex(feed)) {
    await edit.setFeedState(feed, { ...asked, bodies: true });
    return "more";
  }
  const isEnd = !page2.hasMore && (walk === void 0 || !isWalkOfIndex(feed));
  for (const { id, item } of page2.changes) {
    let roleBefore;
    await edit.step(feed, id, (row, rules) => {
      roleBefore = row?.server?.["role"];
      const known = received(row ?? { feed, id }, item && withBody(feed, item, row?.server), rules);
      const next = known && walk !== void 0 ? { ...known, walk } : known;
      return next && isEnd ? settled(next, rules) : next;
    });
    if (item && roleBefore !== item["role"])
      await rereadContained(edit, feed, id);
  }
  const state = {
    ...page2.cursor !== void 0 && { cursor: page2.cursor },
    ...walks && { walks }
  };
  if (page2.hasMore) {
    const ofWalk = walk !== void 0 && { walk, ...!areKnown && { bodies: true } };
    await edit.setFeedState(feed, { ...state, ...ofWalk });
    return "more";
  }
  if (walk !== void 0 && walk > 1)
    await sweep(edit, feed, walk);
  if (isEnd)
    await settle(edit, feed);
  await edit.setFeedState(feed, isEnd ? { ...state, seen } : state);
  return isEnd ? "end" : "more";
}
async function hasBodies(edit, feed, { changes: changes2 }) {
  for (const { id, item } of changes2)
    if (item && !isKnown(feed, item, await edit.tx.get(feed, id)))
      return false;
  return true;
}
var isWalkOfIndex = (feed) => !isListed(feed) && partsOf(feed).scope === void 0;
async function sweep(edit, feed, walk) {
  for await (const row of eachRow(edit.tx, feed)) {
    if (!row.server || row.gone || row.walk === walk)
      continue;
    await edit.step(feed, row.id, (current, rules) => current && received(current, void 0, rules));
    await dropContained(edit, feed, row.id);
  }
}
async function settle(edit, feed) {
  const isDone = (row) => row.feed === feed && row.sent?.done !== void 0;
  for await (const pending of eachPending(edit.tx))
    if (isDone(pending))
      await edit.step(feed, pending.id, (row, rules) => row && settled(row, rules));
}
async function drop(edit, feed) {
  for await (const { id } of eachRow(edit.tx, feed))
    await edit.step(feed, id, (row, rules) => row && received(row, void 0, rules));
  await edit.setFeedState(feed, void 0);
}
async function dropContained(edit, feed, id) {
  const contained = CONTAINED[feed];
  if (contained)
    await drop(edit, feedOf(contained, id));
}
async function rereadContained(edit, feed, id) {
  const contained = CONTAINED[feed];
  const state = contained && await edit.feedState(feedOf(contained, id));
  if (!state)
    return;
  const { seen: _, ...unread } = state;
  await edit.setFeedState(feedOf(contained, id), unread);
}
function numberOf(feed, { collections, objects }) {
  const { name, scope } = partsOf(feed);
  if (scope === void 0)
    return collections[name] ?? null;
  return objects[HEADS_OF[name]]?.[scope] ?? null;
}
function headsOf(feed, { objects }) {
  const heads = objects[HEADS_OF[CONTAINED[feed]]] ?? {};
  return Object.entries(heads).sort().join();
}

// sdk/dist/sync/exchange/requests.js
var TEMPORARY = /* @__PURE__ */ new Set([401, 408, 424, 425, 429]);
var SERVER_ERROR = 500;
var OF_SESSION = /* @__PURE__ */ new Set([
  "workspace_forbidden",
  "second_factor_required",
  "second_factor_enrolment_required"
]);
var DONE = {
  create: /* @__PURE__ */ new Set(["already_exists", "duplicate_external_id"]),
  fields: /* @__PURE__ */ new Set(["no_changes"]),
  remove: /* @__PURE__ */ new Set(["deleted", "not_found"])
};
function writeOf({ feed, id, sent }, device) {
  const { name, scope = "" } = partsOf(feed);
  const { path, idField, update, hasDevice } = COLLECTIONS[name];
  const { key, change, revision } = sent;
  const one = `${path(scope)}/${encodeURIComponent(id)}`;
  const named = hasDevice ? { device_id: device } : {};
  const guarded = { ...named, ...revision !== void 0 && { base_revision: revision } };
  if (change.create)
    return { method: "POST", path: path(scope), body: { ...change.fields, [idField]: id, ...named }, key };
  if (change.restore)
    return { method: "POST", path: `${one}/restore`, body: named, key };
  if (change.remove)
    return { method: "DELETE", path: one, body: guarded, key };
  return { method: update, path: one, body: { ...change.fields, ...guarded }, key };
}
function outcomeOf({ feed, sent }, { status, body, revision: named }) {
  if (status < 300) {
    const item = body[COLLECTIONS[partsOf(feed).name].itemKey];
    const revision = named ?? item?.revision;
    return { kind: "done", ...revision !== void 0 && { revision } };
  }
  const { error: code = `http_${status}`, message = "", details } = body;
  const mayRunLater = status >= SERVER_ERROR || TEMPORARY.has(status) || code === "request_in_flight";
  if (mayRunLater || OF_SESSION.has(code))
    return { kind: "wait" };
  const step = stepOf(sent.change);
  if (step !== "restore" && DONE[step].has(code))
    return { kind: "done" };
  if (code === "conflict" || code === "idempotency_key_reused")
    return { kind: "conflict" };
  return { kind: "problem", problem: { status, code, message, ...details !== void 0 && { details } } };
}
var stepOf = ({ create: create2, restore, remove }) => create2 ? "create" : restore ? "restore" : remove ? "remove" : "fields";

// sdk/dist/sync/exchange/pusher.js
var MAX_REQUESTS = 100;
var MAX_CHARACTERS = 2e6;
var Pusher = class {
  client;
  rows;
  device;
  constructor(client2, rows, device) {
    this.client = client2;
    this.rows = rows;
    this.device = device;
  }
  /**
   * Sends each change that can be sent, one request of each object.
   * @throws ApiError, Error if there is no response: requests keep their keys and are repeated by the next push
   */
  async push(signal2) {
    const result = { done: 0, conflicts: 0, waits: false };
    const position = { after: 0, tried: /* @__PURE__ */ new Set() };
    for (; ; ) {
      const rows = await this.take(position);
      if (rows.length === 0)
        return result;
      const requests = rows.map((row) => writeOf(row, this.device));
      const mode = rows.every(isPlainEdit) ? "independent" : "ordered";
      const responses = await runBatch(this.client, mode, requests, signal2);
      const outcomes = rows.map((row, n) => {
        const response = responses[n];
        return response ? outcomeOf(row, response) : { kind: "wait" };
      });
      await this.store(rows, outcomes);
      const count = (kind) => outcomes.filter((outcome) => outcome.kind === kind).length;
      result.done += count("done");
      result.conflicts += count("conflict");
      result.waits ||= count("wait") > 0;
    }
  }
  /** Fixes the next requests in the store, before they are sent. */
  take(position) {
    return this.rows.change(async (edit) => {
      const taken = [];
      let characters = 0;
      let waits = false;
      for await (const row of eachPending(edit.tx, position.after)) {
        const name = `${row.feed} ${row.id}`;
        const isNext = isSendable(row) && !position.tried.has(name);
        const isBlocked = isNext && await missingOf(edit.tx, row) !== void 0;
        if (isNext && !isBlocked) {
          characters += sizeOf(row);
          if (taken.length === MAX_REQUESTS || taken.length > 0 && characters > MAX_CHARACTERS)
            break;
          position.tried.add(name);
          taken.push(row.sent ? row : await edit.replace(row, frozen(row, randomKey())));
        }
        waits ||= isBlocked;
        if (!waits)
          position.after = row.place;
      }
      return taken;
    });
  }
  /** After a loss of power, the requests are repeated with their keys, as after a lost response. */
  store(rows, outcomes) {
    return this.rows.receive(async (edit) => {
      for (const [n, { feed, id, sent }] of rows.entries())
        await edit.step(feed, id, (row, rules) => row?.sent?.key === sent.key ? answered(row, outcomes[n], rules) : row);
    });
  }
};
var isPlainEdit = ({ feed, sent }) => {
  const { create: create2, restore, remove, fields } = sent.change;
  return feed === "notes" && !create2 && !restore && !remove && idsIn(fields).next().done === true;
};
var sizeOf = (row) => JSON.stringify((row.sent?.change ?? row.open)?.fields ?? {}).length;

// sdk/dist/delay.js
function delay(ms, signal2) {
  return new Promise((resolve, reject) => {
    if (signal2?.aborted) {
      reject(signal2.reason);
      return;
    }
    const end = () => {
      clearTimeout(timer);
      signal2?.removeEventListener("abort", end);
      if (signal2?.aborted)
        reject(signal2.reason);
      else
        resolve();
    };
    const timer = setTimeout(end, ms);
    signal2?.addEventListener("abort", end);
  });
}

// sdk/dist/sync/exchange/alarm.js
var Alarm = class {
  rung = false;
  wake;
  ring() {
    this.rung = true;
    this.wake?.();
  }
  /** Forgets the rings until now. */
  reset() {
    this.rung = false;
  }
  /**
   * Runs work until it ends or the alarm rings.
   * @param work ends early when its signal aborts
   * @returns undefined after a ring
   */
  async interrupt(signal2, work) {
    if (this.rung || signal2.aborted)
      return void 0;
    const abort2 = new AbortController();
    const end = () => abort2.abort();
    this.wake = end;
    signal2.addEventListener("abort", end);
    try {
      return await work(abort2.signal);
    } catch (error) {
      if (abort2.signal.aborted)
        return void 0;
      throw error;
    } finally {
      this.wake = void 0;
      signal2.removeEventListener("abort", end);
    }
  }
};

// sdk/dist/sync/exchange/sync-loop.js
var POLL_SECONDS = 25;
var RETRY_MS = 1e3;
var MAX_RETRY_MS = 6e4;
var MAX_ATTEMPTS = 5;
var INCOMPLETE = "The service does not take all changes at the moment.";
var SyncLoop = class {
  parts;
  /** Ends the wait for a change of either side. */
  alarm = new Alarm();
  /** Ends the pause after a failure. Saves do not: without a connection, each would start an attempt. */
  retry = new Alarm();
  requests = [];
  failures = 0;
  constructor(parts) {
    this.parts = parts;
  }
  /** Something was saved. */
  saved() {
    this.alarm.ring();
  }
  /** The service may have a change, the connection may be back, or a tab asks for a synchronisation. */
  wake(request) {
    if (request !== void 0)
      this.requests.push(request);
    this.alarm.ring();
    this.retry.ring();
  }
  async run(signal2) {
    const { socket, channel } = this.parts;
    const removals = [socket?.on("changed", () => this.wake()), socket?.on("state", () => this.wake())];
    channel.send({ kind: "leading" });
    try {
      for (let heads; !signal2.aborted; )
        heads = await this.round(heads, signal2);
    } finally {
      for (const remove of removals)
        remove?.();
    }
  }
  /** @param heads if they are known @returns the heads of the next round */
  async round(known, signal2) {
    this.alarm.reset();
    this.retry.reset();
    const requests = this.requests.splice(0);
    if (requests.length > 0)
      this.parts.puller.refresh();
    try {
      this.enter({ phase: "syncing" });
      const { heads, isComplete } = await this.synchronise(known, signal2);
      this.parts.channel.send({ kind: "synced", requests, ...!isComplete && { error: INCOMPLETE } });
      if (!isComplete)
        return await this.pause({ phase: "waiting", message: INCOMPLETE }, signal2);
      this.failures = 0;
      this.enter({ phase: "idle" });
      return await this.alarm.interrupt(signal2, (end) => this.nextHeads(heads, end));
    } catch (error) {
      if (signal2.aborted)
        return void 0;
      const state = { phase: phaseOf(error), message: messageOf(error) };
      this.parts.channel.send({ kind: "synced", requests, error: state.message });
      return this.pause(state, signal2);
    }
  }
  /** Sends until nothing is left that can be sent, and reads what has changed. */
  async synchronise(known, signal2) {
    let heads = known;
    for (let attempts = 1; ; attempts += 1) {
      const { done, conflicts, waits } = await this.parts.pusher.push(signal2);
      if (!heads || done + conflicts > 0)
        heads = await this.readHeads({}, signal2);
      await this.parts.puller.pull(heads, signal2);
      if (!waits && done + conflicts === 0)
        return { heads, isComplete: true };
      if (waits || done === 0 && attempts >= MAX_ATTEMPTS)
        return { heads, isComplete: false };
    }
  }
  nextHeads(heads, end) {
    const { socket } = this.parts;
    if (socket?.state === "connected")
      return new Promise((_resolve, reject) => whenAborted(end, reject));
    return this.readHeads({ head: heads.head, wait: POLL_SECONDS }, end);
  }
  async readHeads(query, signal2) {
    return unwrap(await this.parts.client.GET("/sync/state", { params: { query }, signal: signal2 }));
  }
  async pause(state, signal2) {
    this.enter(state);
    const wait = Math.min(RETRY_MS * 2 ** this.failures, MAX_RETRY_MS) * (0.5 + Math.random() / 2);
    this.failures += 1;
    await this.retry.interrupt(signal2, (end) => delay(wait, end));
    return void 0;
  }
  enter(state) {
    this.parts.channel.send({ kind: "state", state });
  }
};
function whenAborted(signal2, call) {
  if (signal2.aborted)
    call(signal2.reason);
  else
    signal2.addEventListener("abort", () => call(signal2.reason), { once: true });
}
var messageOf = (error) => error instanceof Error ? error.message : String(error);
function phaseOf(error) {
  if (error instanceof StoreFullError)
    return "storage-full";
  if (!(error instanceof ApiError))
    return error instanceof TypeError ? "offline" : "failed";
  return error.status === 401 ? "signed-out" : error.status >= 500 ? "offline" : "failed";
}

// sdk/dist/sync/workspace.js
var MAX_PENDING = 1e3;
async function openWorkspace(options) {
  checkLeadership(options.store.shared);
  const device = await identify(options);
  return new Workspace(options, device);
}
async function identify({ store: store2, user, device }) {
  return store2.transaction("write", async (tx) => {
    const known = await tx.readMeta("user");
    if (known !== void 0 && known !== user)
      throw new Error("The store has data of another user.");
    const name = await tx.readMeta("device");
    if (name !== void 0)
      return name;
    await tx.writeMeta("user", user);
    const first = device ?? randomUuid();
    await tx.writeMeta("device", first);
    return first;
  });
}
var Workspace = class {
  options;
  channel;
  rows;
  ending = new AbortController();
  names;
  leading;
  loop;
  current = { phase: "starting" };
  wake = () => this.channel.send({ kind: "wake" });
  /** @param device name of the device */
  constructor(options, device) {
    this.options = options;
    const { client: client2, store: store2, socket, resolve = byDefault } = options;
    const channel = this.channel = new Channel(store2.shared);
    this.names = withContainers(options.collections ?? ALL_COLLECTIONS);
    this.rows = new Rows(store2, resolve, (changed) => channel.send({ kind: "changed", changed }));
    channel.on((message) => this.received(message));
    globalThis.addEventListener?.("online", this.wake);
    this.leading = lead(store2.shared, this.ending.signal, () => {
      const pusher = new Pusher(client2, this.rows, device);
      const puller = new Puller(client2, this.rows, this.names);
      this.loop = new SyncLoop({ client: client2, pusher, puller, channel, socket });
      return this.loop.run(this.ending.signal);
    });
  }
  /** The state of the synchronisation, by whichever tab. */
  get state() {
    return this.current;
  }
  collection(name, scope) {
    if (!this.names.has(name))
      throw new Error(`${name} is not among the collections of this workspace.`);
    const { container } = COLLECTIONS[name];
    if (container === void 0 !== (scope === void 0))
      throw new Error(container ? `${name} need an id of ${container}.` : `${name} have no containing object.`);
    return new Collection(this.rows, this.channel, feedOf(name, scope));
  }
  /** @returns a function that removes the listener */
  onState(listener) {
    return this.channel.on((message) => message.kind === "state" && listener(message.state));
  }
  /**
   * What the service does not have yet, in the order in which it was saved.
   * @param limit of changes
   */
  pending(limit = MAX_PENDING) {
    return this.rows.read(async (tx) => {
      const changes2 = [];
      for await (const row of eachPending(tx)) {
        if (changes2.length >= limit)
          break;
        if (row.open ?? !row.sent?.done)
          changes2.push(this.pendingOf(row, await missingOf(tx, row)));
      }
      return changes2;
    });
  }
  /** @param listener called after each change of an object @returns a function that removes it */
  onChange(listener) {
    return this.channel.on((message) => message.kind === "changed" && listener());
  }
  /**
   * Synchronises now, instead of after the next hint or the pause after a failure. Resolves when the service has everything that was saved
   * before, except changes with problems and those that wait for them, and the device has everything that the service had.
   * @param end of the wait, such as `AbortSignal.timeout(10_000)`: the tab that synchronises may be frozen by the browser
   * @throws Error if the attempt fails, or the reason of the signal; what was saved stays saved
   */
  async sync(end) {
    if (end?.aborted)
      throw end.reason;
    const request = randomUuid();
    const ask = () => this.channel.send({ kind: "wake", request });
    return new Promise((resolve, reject) => {
      const stop = () => {
        remove();
        this.ending.signal.removeEventListener("abort", closed);
        end?.removeEventListener("abort", ended);
      };
      const ended = () => {
        stop();
        reject(end.reason);
      };
      const closed = () => {
        stop();
        reject(new Error("The workspace is closed."));
      };
      const remove = this.channel.on((message) => {
        if (message.kind === "leading")
          ask();
        if (message.kind !== "synced" || !message.requests.includes(request))
          return;
        stop();
        if (message.error === void 0)
          resolve();
        else
          reject(new Error(message.error));
      });
      this.ending.signal.addEventListener("abort", closed);
      end?.addEventListener("abort", ended);
      if (this.ending.signal.aborted)
        closed();
      else
        ask();
    });
  }
  /** Ends the synchronisation and closes the store. What was saved is sent when the workspace is opened again. */
  async close() {
    this.ending.abort();
    globalThis.removeEventListener?.("online", this.wake);
    await this.leading;
    this.channel.close();
    await this.options.store.close();
  }
  received(message) {
    if (message.kind === "state")
      this.current = message.state;
    if (message.kind === "saved")
      this.loop?.saved();
    if (message.kind === "wake")
      this.loop?.wake(message.request);
  }
  pendingOf(row, waitsFor) {
    const { name, scope } = partsOf(row.feed);
    const item = visible(row, this.rows.rulesOf(row.feed));
    return { collection: name, scope, id: row.id, item, problem: row.problem, waitsFor };
  }
};
function withContainers(names) {
  return new Set(names.flatMap((name) => COLLECTIONS[name].container ?? []).concat(names));
}

// node_modules/idb/build/index.js
var instanceOfAny = (object, constructors) => constructors.some((c) => object instanceof c);
var idbProxyableTypes;
var cursorAdvanceMethods;
function getIdbProxyableTypes() {
  return idbProxyableTypes || (idbProxyableTypes = [
    IDBIndex,
    IDBObjectStore,
    IDBCursor,
    IDBDatabase,
    IDBTransaction
  ]);
}
function getCursorAdvanceMethods() {
  return cursorAdvanceMethods || (cursorAdvanceMethods = ["advance", "continue", "continuePrimaryKey"].map((method) => IDBCursor.prototype[method]));
}
var transactionDoneMap = /* @__PURE__ */ new WeakMap();
var transformCache = /* @__PURE__ */ new WeakMap();
var reverseTransformCache = /* @__PURE__ */ new WeakMap();
function promisifyRequest(request) {
  const promise = new Promise((resolve, reject) => {
    const unlisten = () => {
      request.removeEventListener("success", success);
      request.removeEventListener("error", error);
    };
    const success = () => {
      resolve(wrap(request.result));
      unlisten();
    };
    const error = () => {
      reject(request.error);
      unlisten();
    };
    request.addEventListener("success", success);
    request.addEventListener("error", error);
  });
  reverseTransformCache.set(promise, request);
  return promise;
}
function cacheDonePromiseForTransaction(tx) {
  if (transactionDoneMap.has(tx))
    return;
  const done = new Promise((resolve, reject) => {
    const unlisten = () => {
      tx.removeEventListener("complete", complete);
      tx.removeEventListener("error", error);
      tx.removeEventListener("abort", error);
    };
    const complete = () => {
      resolve();
      unlisten();
    };
    const error = () => {
      reject(tx.error || new DOMException("AbortError", "AbortError"));
      unlisten();
    };
    tx.addEventListener("complete", complete);
    tx.addEventListener("error", error);
    tx.addEventListener("abort", error);
  });
  transactionDoneMap.set(tx, done);
}
var idbProxyTraps = {
  get(target, prop, receiver) {
    if (target instanceof IDBTransaction) {
      if (prop === "done")
        return transactionDoneMap.get(target);
      if (prop === "store") {
        return receiver.objectStoreNames[1] ? void 0 : receiver.objectStore(receiver.objectStoreNames[0]);
      }
    }
    return wrap(target[prop]);
  },
  set(target, prop, value) {
    target[prop] = value;
    return true;
  },
  has(target, prop) {
    if (target instanceof IDBTransaction && (prop === "done" || prop === "store")) {
      return true;
    }
    return prop in target;
  }
};
function replaceTraps(callback) {
  idbProxyTraps = callback(idbProxyTraps);
}
function wrapFunction(func) {
  if (getCursorAdvanceMethods().includes(func)) {
    return function(...args) {
      func.apply(unwrap2(this), args);
      return wrap(this.request);
    };
  }
  return function(...args) {
    return wrap(func.apply(unwrap2(this), args));
  };
}
function transformCachableValue(value) {
  if (typeof value === "function")
    return wrapFunction(value);
  if (value instanceof IDBTransaction)
    cacheDonePromiseForTransaction(value);
  if (instanceOfAny(value, getIdbProxyableTypes()))
    return new Proxy(value, idbProxyTraps);
  return value;
}
function wrap(value) {
  if (value instanceof IDBRequest)
    return promisifyRequest(value);
  if (transformCache.has(value))
    return transformCache.get(value);
  const newValue = transformCachableValue(value);
  if (!Object.is(newValue, value)) {
    transformCache.set(value, newValue);
    reverseTransformCache.set(newValue, value);
  }
  return newValue;
}
var unwrap2 = (value) => reverseTransformCache.get(value);
function openDB(name, version, { blocked, upgrade, blocking, terminated } = {}) {
  const request = indexedDB.open(name, version);
  const openPromise = wrap(request);
  if (upgrade) {
    request.addEventListener("upgradeneeded", (event) => {
      upgrade(wrap(request.result), event.oldVersion, event.newVersion, wrap(request.transaction), event);
    });
  }
  if (blocked) {
    request.addEventListener("blocked", (event) => blocked(
      // Casting due to https://github.com/microsoft/TypeScript-DOM-lib-generator/pull/1405
      event.oldVersion,
      event.newVersion,
      event
    ));
  }
  openPromise.then((db) => {
    if (terminated)
      db.addEventListener("close", () => terminated());
    if (blocking) {
      db.addEventListener("versionchange", (event) => blocking(event.oldVersion, event.newVersion, event));
    }
  }).catch(() => {
  });
  return openPromise;
}
var readMethods = ["get", "getKey", "getAll", "getAllKeys", "count"];
var writeMethods = ["put", "add", "delete", "clear"];
var cachedMethods = {};
function getMethod(target, prop) {
  if (!(target instanceof IDBDatabase && !(prop in target) && typeof prop === "string")) {
    return;
  }
  if (cachedMethods[prop])
    return cachedMethods[prop];
  const targetFuncName = prop.replace(/FromIndex$/, "");
  const useIndex = prop !== targetFuncName;
  const isWrite = writeMethods.includes(targetFuncName);
  if (
    // Bail if the target doesn't exist on the target. Eg, getAll isn't in Edge.
    !(targetFuncName in (useIndex ? IDBIndex : IDBObjectStore).prototype) || !(isWrite || readMethods.includes(targetFuncName))
  ) {
    return;
  }
  const method = async function(storeName, ...args) {
    const tx = this.transaction(storeName, isWrite ? "readwrite" : "readonly");
    let target2 = tx.store;
    if (useIndex)
      target2 = target2.index(args.shift());
    return (await Promise.all([
      target2[targetFuncName](...args),
      isWrite && tx.done
    ]))[0];
  };
  return cachedMethods[prop] = method;
}
replaceTraps((oldTraps) => ({
  ...oldTraps,
  get: (target, prop, receiver) => getMethod(target, prop) || oldTraps.get(target, prop, receiver),
  has: (target, prop) => !!getMethod(target, prop) || oldTraps.has(target, prop)
}));
var advanceMethodProps = ["advance", "continue", "continuePrimaryKey"];
var methodMap = {};
var advanceResults = /* @__PURE__ */ new WeakMap();
var ittrProxiedCursorToOriginalProxy = /* @__PURE__ */ new WeakMap();
var cursorIteratorTraps = {
  get(target, prop) {
    if (!advanceMethodProps.includes(prop))
      return target[prop];
    let cachedFunc = methodMap[prop];
    if (!cachedFunc) {
      cachedFunc = methodMap[prop] = function(...args) {
        advanceResults.set(this, ittrProxiedCursorToOriginalProxy.get(this)[prop](...args));
      };
    }
    return cachedFunc;
  }
};
async function* iterate(...args) {
  let cursor = this;
  if (!(cursor instanceof IDBCursor)) {
    cursor = await cursor.openCursor(...args);
  }
  if (!cursor)
    return;
  cursor = cursor;
  const proxiedCursor = new Proxy(cursor, cursorIteratorTraps);
  ittrProxiedCursorToOriginalProxy.set(proxiedCursor, cursor);
  reverseTransformCache.set(proxiedCursor, unwrap2(cursor));
  while (cursor) {
    yield proxiedCursor;
    cursor = await (advanceResults.get(proxiedCursor) || cursor.continue());
    advanceResults.delete(proxiedCursor);
  }
}
function isIteratorProp(target, prop) {
  return prop === Symbol.asyncIterator && instanceOfAny(target, [IDBIndex, IDBObjectStore, IDBCursor]) || prop === "iterate" && instanceOfAny(target, [IDBIndex, IDBObjectStore]);
}
replaceTraps((oldTraps) => ({
  ...oldTraps,
  get(target, prop, receiver) {
    if (isIteratorProp(target, prop))
      return iterate;
    return oldTraps.get(target, prop, receiver);
  },
  has(target, prop) {
    return isIteratorProp(target, prop) || oldTraps.has(target, prop);
  }
}));

// sdk/dist/sync/stores/indexed-db.js
var VERSION = 1;
async function indexedDbStore(name) {
  const database = await openDB(name, VERSION, {
    upgrade(fresh) {
      const rows = fresh.createObjectStore("rows", { keyPath: ["feed", "id"] });
      rows.createIndex("place", "place");
      fresh.createObjectStore("meta");
    },
    // A later version of the application, in another tab, may change the database.
    blocking: () => database.close()
  }).catch((error) => {
    throw isFull(error) ? new StoreFullError(error) : error;
  });
  return {
    shared: name,
    transaction: (mode, work) => mode === "read" ? work(readingFrom(database)) : writingTo(database, mode === "write", work),
    close: async () => database.close()
  };
}
var readingFrom = (database) => transactionOn(database.transaction(["rows", "meta"], "readonly"));
async function writingTo(database, isStrict, work) {
  const durability = isStrict ? "strict" : "relaxed";
  const access = database.transaction(["rows", "meta"], "readwrite", { durability });
  const end = access.done.then(() => void 0, (error) => ({ error: error ?? access.error }));
  let result;
  try {
    result = await work(transactionOn(access));
  } catch (error) {
    abort(access);
    await end;
    throw isFull(error) ? new StoreFullError(error) : error;
  }
  const failure = await end;
  if (failure)
    throw isFull(failure.error) ? new StoreFullError(failure.error) : failure.error;
  return result;
}
function abort(access) {
  try {
    access.abort();
  } catch {
  }
}
var isFull = (error) => error instanceof DOMException && error.name === "QuotaExceededError";
function transactionOn(access) {
  const writable = access;
  const rows = () => writable.objectStore("rows");
  const meta = () => writable.objectStore("meta");
  return {
    get: (feed, id) => rows().get([feed, id]),
    put: async (row) => void await rows().put(row),
    delete: (feed, id) => rows().delete([feed, id]),
    // An array is greater than each text, so these are all greater ids.
    rows: (feed, after, limit) => rows().getAll(IDBKeyRange.bound([feed, after], [feed, []], true), limit),
    pending: (after, limit) => rows().index("place").getAll(IDBKeyRange.lowerBound(after, true), limit),
    readMeta: (key) => meta().get(key),
    writeMeta: async (key, value) => {
      if (value === void 0)
        await meta().delete(key);
      else
        await meta().put(value, key);
    }
  };
}

// examples/notes-web/src/conflicts.ts
var Conflicts = class {
  /** @param prefix of the keys; another one for each user */
  constructor(prefix) {
    this.prefix = prefix;
    addEventListener("storage", ({ key }) => {
      if (key === null || key.startsWith(prefix)) this.report();
    });
  }
  prefix;
  listeners = /* @__PURE__ */ new Set();
  /** The function of the library. Keeps its default: both versions of a paragraph, and the title of the user. */
  resolve = (conflict) => {
    if (conflict.kind === "field") this.add(conflict);
    return conflict.merged;
  };
  get(id) {
    const stored = localStorage.getItem(this.prefix + id);
    return stored === null ? void 0 : JSON.parse(stored);
  }
  set(id, versions) {
    localStorage.setItem(this.prefix + id, JSON.stringify(versions));
    this.report();
  }
  delete(id) {
    localStorage.removeItem(this.prefix + id);
    this.report();
  }
  clear() {
    for (const key of Object.keys(localStorage))
      if (key.startsWith(this.prefix)) localStorage.removeItem(key);
  }
  onChange(listener) {
    this.listeners.add(listener);
  }
  add({ id, field, local, server }) {
    if (field !== "title" && field !== "content" || typeof local !== "string") return;
    this.set(id, {
      ...this.get(id),
      [field]: { mine: local, theirs: typeof server === "string" ? server : "" }
    });
  }
  report() {
    for (const listener of this.listeners) listener();
  }
};

// node_modules/openapi-fetch/dist/index.mjs
var PATH_PARAM_RE = /\{[^{}]+\}/g;
var supportsRequestInitExt = () => {
  return typeof process === "object" && Number.parseInt(process?.versions?.node?.substring(0, 2)) >= 18 && process.versions.undici;
};
function randomID() {
  return Math.random().toString(36).slice(2, 11);
}
function createClient(clientOptions) {
  let {
    baseUrl = "",
    Request: CustomRequest = globalThis.Request,
    fetch: baseFetch = globalThis.fetch,
    querySerializer: globalQuerySerializer,
    bodySerializer: globalBodySerializer,
    pathSerializer: globalPathSerializer,
    headers: baseHeaders,
    requestInitExt = void 0,
    ...baseOptions
  } = { ...clientOptions };
  requestInitExt = supportsRequestInitExt() ? requestInitExt : void 0;
  baseUrl = removeTrailingSlash(baseUrl);
  const globalMiddlewares = [];
  async function coreFetch(schemaPath, fetchOptions) {
    const {
      baseUrl: localBaseUrl,
      fetch: fetch2 = baseFetch,
      Request: Request2 = CustomRequest,
      headers,
      params = {},
      parseAs = "json",
      querySerializer: requestQuerySerializer,
      bodySerializer = globalBodySerializer ?? defaultBodySerializer,
      pathSerializer: requestPathSerializer,
      body,
      middleware: requestMiddlewares = [],
      ...init
    } = fetchOptions || {};
    let finalBaseUrl = baseUrl;
    if (localBaseUrl) {
      finalBaseUrl = removeTrailingSlash(localBaseUrl) ?? baseUrl;
    }
    let querySerializer = typeof globalQuerySerializer === "function" ? globalQuerySerializer : createQuerySerializer(globalQuerySerializer);
    if (requestQuerySerializer) {
      querySerializer = typeof requestQuerySerializer === "function" ? requestQuerySerializer : createQuerySerializer({
        ...typeof globalQuerySerializer === "object" ? globalQuerySerializer : {},
        ...requestQuerySerializer
      });
    }
    const pathSerializer = requestPathSerializer || globalPathSerializer || defaultPathSerializer;
    const serializedBody = body === void 0 ? void 0 : bodySerializer(
      body,
      // Note: we declare mergeHeaders() both here and below because it’s a bit of a chicken-or-egg situation:
      // bodySerializer() needs all headers so we aren’t dropping ones set by the user, however,
      // the result of this ALSO sets the lowest-priority content-type header. So we re-merge below,
      // setting the content-type at the very beginning to be overwritten.
      // Lastly, based on the way headers work, it’s not a simple “present-or-not” check becauase null intentionally un-sets headers.
      mergeHeaders(baseHeaders, headers, params.header)
    );
    const finalHeaders = mergeHeaders(
      // with no body, we should not to set Content-Type
      serializedBody === void 0 || // if serialized body is FormData; browser will correctly set Content-Type & boundary expression
      serializedBody instanceof FormData ? {} : {
        "Content-Type": "application/json"
      },
      baseHeaders,
      headers,
      params.header
    );
    const finalMiddlewares = [...globalMiddlewares, ...requestMiddlewares];
    const requestInit = {
      redirect: "follow",
      ...baseOptions,
      ...init,
      body: serializedBody,
      headers: finalHeaders
    };
    let id;
    let options;
    let request = new Request2(
      createFinalURL(schemaPath, { baseUrl: finalBaseUrl, params, querySerializer, pathSerializer }),
      requestInit
    );
    let response;
    for (const key in init) {
      if (!(key in request)) {
        request[key] = init[key];
      }
    }
    if (finalMiddlewares.length) {
      id = randomID();
      options = Object.freeze({
        baseUrl: finalBaseUrl,
        fetch: fetch2,
        parseAs,
        querySerializer,
        bodySerializer,
        pathSerializer
      });
      for (const m of finalMiddlewares) {
        if (m && typeof m === "object" && typeof m.onRequest === "function") {
          const result = await m.onRequest({
            request,
            schemaPath,
            params,
            options,
            id
          });
          if (result) {
            if (result instanceof Request2) {
              request = result;
            } else if (result instanceof Response) {
              response = result;
              break;
            } else {
              throw new Error("onRequest: must return new Request() or Response() when modifying the request");
            }
          }
        }
      }
    }
    if (!response) {
      try {
        response = await fetch2(request, requestInitExt);
      } catch (error2) {
        let errorAfterMiddleware = error2;
        if (finalMiddlewares.length) {
          for (let i = finalMiddlewares.length - 1; i >= 0; i--) {
            const m = finalMiddlewares[i];
            if (m && typeof m === "object" && typeof m.onError === "function") {
              const result = await m.onError({
                request,
                error: errorAfterMiddleware,
                schemaPath,
                params,
                options,
                id
              });
              if (result) {
                if (result instanceof Response) {
                  errorAfterMiddleware = void 0;
                  response = result;
                  break;
                }
                if (result instanceof Error) {
                  errorAfterMiddleware = result;
                  continue;
                }
                throw new Error("onError: must return new Response() or instance of Error");
              }
            }
          }
        }
        if (errorAfterMiddleware) {
          throw errorAfterMiddleware;
        }
      }
      if (finalMiddlewares.length) {
        for (let i = finalMiddlewares.length - 1; i >= 0; i--) {
          const m = finalMiddlewares[i];
          if (m && typeof m === "object" && typeof m.onResponse === "function") {
            const result = await m.onResponse({
              request,
              response,
              schemaPath,
              params,
              options,
              id
            });
            if (result) {
              if (!(result instanceof Response)) {
                throw new Error("onResponse: must return new Response() when modifying the response");
              }
              response = result;
            }
          }
        }
      }
    }
    const contentLength = response.headers.get("Content-Length");
    if (response.status === 204 || request.method === "HEAD" || contentLength === "0" && !response.headers.get("Transfer-Encoding")?.includes("chunked")) {
      return response.ok ? { data: void 0, response } : { error: void 0, response };
    }
    if (response.ok) {
      const getResponseData = async () => {
        if (parseAs === "stream") {
          return response.body;
        }
        if (parseAs === "json" && !contentLength) {
          const raw = await response.text();
          return raw ? JSON.parse(raw) : void 0;
        }
        return await response[parseAs]();
      };
      return { data: await getResponseData(), response };
    }
    let error = await response.text();
    try {
      error = JSON.parse(error);
    } catch {
    }
    return { error, response };
  }
  return {
    request(method, url, init) {
      return coreFetch(url, { ...init, method: method.toUpperCase() });
    },
    /** Call a GET endpoint */
    GET(url, init) {
      return coreFetch(url, { ...init, method: "GET" });
    },
    /** Call a PUT endpoint */
    PUT(url, init) {
      return coreFetch(url, { ...init, method: "PUT" });
    },
    /** Call a POST endpoint */
    POST(url, init) {
      return coreFetch(url, { ...init, method: "POST" });
    },
    /** Call a DELETE endpoint */
    DELETE(url, init) {
      return coreFetch(url, { ...init, method: "DELETE" });
    },
    /** Call a OPTIONS endpoint */
    OPTIONS(url, init) {
      return coreFetch(url, { ...init, method: "OPTIONS" });
    },
    /** Call a HEAD endpoint */
    HEAD(url, init) {
      return coreFetch(url, { ...init, method: "HEAD" });
    },
    /** Call a PATCH endpoint */
    PATCH(url, init) {
      return coreFetch(url, { ...init, method: "PATCH" });
    },
    /** Call a TRACE endpoint */
    TRACE(url, init) {
      return coreFetch(url, { ...init, method: "TRACE" });
    },
    /** Register middleware */
    use(...middleware) {
      for (const m of middleware) {
        if (!m) {
          continue;
        }
        if (typeof m !== "object" || !("onRequest" in m || "onResponse" in m || "onError" in m)) {
          throw new Error("Middleware must be an object with one of `onRequest()`, `onResponse() or `onError()`");
        }
        globalMiddlewares.push(m);
      }
    },
    /** Unregister middleware */
    eject(...middleware) {
      for (const m of middleware) {
        const i = globalMiddlewares.indexOf(m);
        if (i !== -1) {
          globalMiddlewares.splice(i, 1);
        }
      }
    }
  };
}
function serializePrimitiveParam(name, value, options) {
  if (value === void 0 || value === null) {
    return "";
  }
  if (typeof value === "object") {
    throw new Error(
      "Deeply-nested arrays/objects aren\u2019t supported. Provide your own `querySerializer()` to handle these."
    );
  }
  return `${name}=${options?.allowReserved === true ? value : encodeURIComponent(value)}`;
}
function serializeObjectParam(name, value, options) {
  if (!value || typeof value !== "object") {
    return "";
  }
  const values = [];
  const joiner = {
    simple: ",",
    label: ".",
    matrix: ";"
  }[options.style] || "&";
  if (options.style !== "deepObject" && options.explode === false) {
    for (const k in value) {
      values.push(k, options.allowReserved === true ? value[k] : encodeURIComponent(value[k]));
    }
    const final2 = values.join(",");
    switch (options.style) {
      case "form": {
        return `${name}=${final2}`;
      }
      case "label": {
        return `.${final2}`;
      }
      case "matrix": {
        return `;${name}=${final2}`;
      }
      default: {
        return final2;
      }
    }
  }
  for (const k in value) {
    const finalName = options.style === "deepObject" ? `${name}[${k}]` : k;
    values.push(serializePrimitiveParam(finalName, value[k], options));
  }
  const final = values.join(joiner);
  return options.style === "label" || options.style === "matrix" ? `${joiner}${final}` : final;
}
function serializeArrayParam(name, value, options) {
  if (!Array.isArray(value)) {
    return "";
  }
  if (options.explode === false) {
    const joiner2 = { form: ",", spaceDelimited: "%20", pipeDelimited: "|" }[options.style] || ",";
    const final = (options.allowReserved === true ? value : value.map((v) => encodeURIComponent(v))).join(joiner2);
    switch (options.style) {
      case "simple": {
        return final;
      }
      case "label": {
        return `.${final}`;
      }
      case "matrix": {
        return `;${name}=${final}`;
      }
      // case "spaceDelimited":
      // case "pipeDelimited":
      default: {
        return `${name}=${final}`;
      }
    }
  }
  const joiner = { simple: ",", label: ".", matrix: ";" }[options.style] || "&";
  const values = [];
  for (const v of value) {
    if (options.style === "simple" || options.style === "label") {
      values.push(options.allowReserved === true ? v : encodeURIComponent(v));
    } else {
      values.push(serializePrimitiveParam(name, v, options));
    }
  }
  return options.style === "label" || options.style === "matrix" ? `${joiner}${values.join(joiner)}` : values.join(joiner);
}
function createQuerySerializer(options) {
  return function querySerializer(queryParams) {
    const search = [];
    if (queryParams && typeof queryParams === "object") {
      for (const name in queryParams) {
        const value = queryParams[name];
        if (value === void 0 || value === null) {
          continue;
        }
        if (Array.isArray(value)) {
          if (value.length === 0) {
            continue;
          }
          search.push(
            serializeArrayParam(name, value, {
              style: "form",
              explode: true,
              ...options?.array,
              allowReserved: options?.allowReserved || false
            })
          );
          continue;
        }
        if (typeof value === "object") {
          search.push(
            serializeObjectParam(name, value, {
              style: "deepObject",
              explode: true,
              ...options?.object,
              allowReserved: options?.allowReserved || false
            })
          );
          continue;
        }
        search.push(serializePrimitiveParam(name, value, options));
      }
    }
    return search.join("&");
  };
}
function defaultPathSerializer(pathname, pathParams) {
  let nextURL = pathname;
  for (const match of pathname.match(PATH_PARAM_RE) ?? []) {
    let name = match.substring(1, match.length - 1);
    let explode = false;
    let style = "simple";
    if (name.endsWith("*")) {
      explode = true;
      name = name.substring(0, name.length - 1);
    }
    if (name.startsWith(".")) {
      style = "label";
      name = name.substring(1);
    } else if (name.startsWith(";")) {
      style = "matrix";
      name = name.substring(1);
    }
    if (!pathParams || pathParams[name] === void 0 || pathParams[name] === null) {
      continue;
    }
    const value = pathParams[name];
    if (Array.isArray(value)) {
      nextURL = nextURL.replace(match, serializeArrayParam(name, value, { style, explode }));
      continue;
    }
    if (typeof value === "object") {
      nextURL = nextURL.replace(match, serializeObjectParam(name, value, { style, explode }));
      continue;
    }
    if (style === "matrix") {
      nextURL = nextURL.replace(match, `;${serializePrimitiveParam(name, value)}`);
      continue;
    }
    nextURL = nextURL.replace(match, style === "label" ? `.${encodeURIComponent(value)}` : encodeURIComponent(value));
  }
  return nextURL;
}
function defaultBodySerializer(body, headers) {
  if (body instanceof FormData) {
    return body;
  }
  if (headers) {
    const contentType = headers.get instanceof Function ? headers.get("Content-Type") ?? headers.get("content-type") : headers["Content-Type"] ?? headers["content-type"];
    if (contentType === "application/x-www-form-urlencoded") {
      return new URLSearchParams(body).toString();
    }
  }
  return JSON.stringify(body);
}
function createFinalURL(pathname, options) {
  let finalURL = `${options.baseUrl}${pathname}`;
  if (options.params?.path) {
    finalURL = options.pathSerializer(finalURL, options.params.path);
  }
  let search = options.querySerializer(options.params.query ?? {});
  if (search.startsWith("?")) {
    search = search.substring(1);
  }
  if (search) {
    finalURL += `?${search}`;
  }
  return finalURL;
}
function mergeHeaders(...allHeaders) {
  const finalHeaders = new Headers();
  for (const h of allHeaders) {
    if (!h || typeof h !== "object") {
      continue;
    }
    const iterator = h instanceof Headers ? h.entries() : Object.entries(h);
    for (const [k, v] of iterator) {
      if (v === null) {
        finalHeaders.delete(k);
      } else if (Array.isArray(v)) {
        for (const v2 of v) {
          finalHeaders.append(k, v2);
        }
      } else if (v !== void 0) {
        finalHeaders.set(k, v);
      }
    }
  }
  return finalHeaders;
}
function removeTrailingSlash(url) {
  if (url.endsWith("/")) {
    return url.substring(0, url.length - 1);
  }
  return url;
}

// sdk/dist/etags.js
var etags = /* @__PURE__ */ new WeakMap();
function rememberETag(body, response) {
  const etag = response.headers.get("ETag");
  if (etag === null || !isObject(body))
    return;
  etags.set(body, etag);
  for (const value of Object.values(body))
    if (isObject(value))
      etags.set(value, etag);
}
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// sdk/dist/files/progress.js
function reporter({ start, size }, onProgress) {
  let reported = 0;
  return (bytes) => {
    const loaded = Math.min(Math.max(0, bytes - start), size ?? Number.POSITIVE_INFINITY);
    if (loaded === reported)
      return;
    reported = loaded;
    onProgress({ loaded, total: size });
  };
}
function counted(stream, file, onProgress) {
  const report = reporter(file, onProgress);
  let bytes = 0;
  const count = new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      report(bytes);
      controller.enqueue(chunk);
    }
  });
  return stream.pipeThrough(count);
}

// sdk/dist/files/download.js
var Downloads = class {
  client;
  constructor(client2) {
    this.client = client2;
  }
  download = (async (path, { onProgress, ...init }) => {
    const get2 = this.client.GET;
    const result = await get2(path, { ...init, parseAs: "stream" });
    if (result.response.ok && result.response.body === void 0)
      throw new Error("This platform has no streams. Read the file by GET with parseAs: 'blob'.");
    if (!result.data || !onProgress)
      return result;
    const file = { start: 0, size: lengthOf(result.response) };
    return { ...result, data: counted(result.data, file, onProgress) };
  });
};
function lengthOf({ headers }) {
  const length = headers.get("Content-Length");
  return length === null || headers.has("Content-Encoding") ? void 0 : Number(length);
}

// sdk/dist/files/form.js
function formOf(file, name) {
  const boundary = `workspace-${randomKey()}`;
  const fileName = name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
  const disposition = `Content-Disposition: form-data; name="file"; filename="${fileName}"`;
  const type = `Content-Type: ${file.type || "application/octet-stream"}`;
  const start = new Blob([`--${boundary}\r
${disposition}\r
${type}\r
\r
`]);
  const body = new Blob([start, file, `\r
--${boundary}--\r
`], {
    type: `multipart/form-data; boundary=${boundary}`
  });
  return { body, file: { start: start.size, size: file.size } };
}

// sdk/dist/files/xhr.js
var WITHOUT_BODY = /* @__PURE__ */ new Set([204, 205, 304]);
function sendByXhr(request, form, onProgress) {
  return new Promise((resolve, reject) => {
    const { signal: signal2 } = request;
    if (signal2.aborted) {
      reject(signal2.reason);
      return;
    }
    const xhr = new XMLHttpRequest();
    const abort2 = () => xhr.abort();
    xhr.open(request.method, request.url);
    xhr.responseType = "blob";
    request.headers.forEach((value, name) => xhr.setRequestHeader(name, value));
    xhr.setRequestHeader("Content-Type", form.body.type);
    const report = reporter(form.file, onProgress);
    xhr.upload.addEventListener("progress", ({ loaded }) => report(loaded));
    xhr.addEventListener("load", () => resolve(responseOf(xhr)));
    xhr.addEventListener("error", () => reject(new TypeError("The upload failed: the service cannot be reached.")));
    xhr.addEventListener("abort", () => reject(signal2.reason));
    xhr.addEventListener("loadend", () => signal2.removeEventListener("abort", abort2));
    signal2.addEventListener("abort", abort2);
    xhr.send(form.body);
  });
}
function responseOf(xhr) {
  const headers = new Headers();
  for (const line of xhr.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const [, name, value] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
    if (name !== void 0)
      headers.append(name, value ?? "");
  }
  const body = WITHOUT_BODY.has(xhr.status) ? null : xhr.response;
  return new Response(body, { status: xhr.status, statusText: xhr.statusText, headers });
}

// sdk/dist/files/upload.js
var Uploads = class {
  client;
  sender;
  transport;
  constructor(client2, sender, transport) {
    this.client = client2;
    this.sender = sender;
    this.transport = transport;
  }
  upload = ((path, { file, name, onProgress, ...init }) => {
    const form = formOf(file, name ?? file.name ?? "file");
    const transport = (request) => {
      if (!onProgress)
        return this.transport(new Request(request, { method: "POST", body: form.body }));
      if (typeof XMLHttpRequest === "function")
        return sendByXhr(request, form, onProgress);
      return this.transport(streaming(request, form, onProgress));
    };
    const post = this.client.POST;
    return post(path, { ...init, fetch: (request) => this.sender.send(request, transport) });
  });
};
function streaming(request, form, onProgress) {
  const headers = new Headers(request.headers);
  headers.set("Content-Type", form.body.type);
  const body = counted(form.body.stream(), form.file, onProgress);
  const init = { headers, body, duplex: "half" };
  return new Request(request, init);
}

// sdk/dist/generated/keyed-operations.js
var KEYED_OPERATIONS = /* @__PURE__ */ new Set([
  "POST /note_folders",
  "PUT /note_folders/{id}",
  "PATCH /note_folders/{id}",
  "DELETE /note_folders/{id}",
  "POST /tasks",
  "PUT /tasks/{id}",
  "PATCH /tasks/{id}",
  "DELETE /tasks/{id}",
  "POST /task_folders",
  "PUT /task_folders/{id}",
  "PATCH /task_folders/{id}",
  "DELETE /task_folders/{id}",
  "POST /notes",
  "PUT /notes/{id}",
  "PATCH /notes/{id}",
  "DELETE /notes/{id}",
  "POST /forms",
  "POST /webhooks",
  "PUT /webhooks/{id}",
  "PATCH /webhooks/{id}",
  "DELETE /webhooks/{id}",
  "POST /hooks/{token}",
  "POST /calendar",
  "PUT /calendar/{calendar_id}",
  "DELETE /calendar/{calendar_id}",
  "POST /tenant/issuers",
  "PUT /tenant/issuers/{id}",
  "PATCH /tenant/issuers/{id}",
  "DELETE /tenant/issuers/{id}",
  "POST /rbac/groups",
  "POST /settings/signatures",
  "POST /tasks/{task_id}/subtasks",
  "PUT /tasks/{task_id}/subtasks/{id}",
  "DELETE /tasks/{task_id}/subtasks/{id}",
  "POST /tasks/{task_id}/comments",
  "PATCH /tasks/{task_id}/comments/{id}",
  "DELETE /tasks/{task_id}/comments/{id}",
  "POST /tasks/{id}/restore",
  "POST /tasks/{task_id}/attachments",
  "DELETE /tasks/{task_id}/attachments/{id}",
  "POST /notes/{id}/restore",
  "DELETE /notes/{id}/purge",
  "PUT /notes/{id}/invited",
  "POST /notes/{id}/share",
  "DELETE /notes/{id}/share",
  "POST /notes/{id}/share/regenerate",
  "POST /notes/{id}/task",
  "POST /contact/addressbooks",
  "PUT /contact/addressbooks/{id}",
  "DELETE /contact/addressbooks/{id}",
  "PUT /contact/addressbooks/{addressbook_id}/contacts/{external_id}/photo",
  "DELETE /contact/addressbooks/{addressbook_id}/contacts/{external_id}/photo",
  "PUT /contact/self/photo",
  "DELETE /contact/self/photo",
  "POST /contact/addressbooks/{addressbook_id}/contacts",
  "PUT /contact/addressbooks/{addressbook_id}/contacts/{external_id}",
  "DELETE /contact/addressbooks/{addressbook_id}/contacts/{external_id}",
  "PUT /contact/self",
  "POST /forms/draft",
  "POST /forms/{id}/share",
  "DELETE /forms/{id}/share",
  "POST /forms/{id}/share/regenerate",
  "POST /forms/{id}/reports",
  "POST /chat/rooms",
  "POST /call/rooms",
  "POST /incoming-webhooks",
  "PUT /incoming-webhooks/{id}",
  "PATCH /incoming-webhooks/{id}",
  "DELETE /incoming-webhooks/{id}",
  "POST /calendar/polls",
  "POST /calendar/{calendar_id}/sync",
  "POST /calendar/{calendar_id}/events",
  "POST /calendar/{calendar_id}/events/batch",
  "PUT /calendar/{calendar_id}/events/{event_id}",
  "DELETE /calendar/{calendar_id}/events/{event_id}",
  "PUT /calendar/{calendar_id}/events/{event_id}/rsvp",
  "POST /calendar/{calendar_id}/events/{event_id}/proposals"
]);

// sdk/dist/kept-requests.js
var sending = /* @__PURE__ */ new Set();
var receiving = new FinalizationRegistry(() => void 0);
async function keepRequest(request, sent) {
  sending.add(request);
  const release = () => void sending.delete(request);
  request.signal.addEventListener("abort", release, { once: true });
  try {
    const response = await sent;
    if (response.body)
      receiving.register(response.body, request);
    return response;
  } finally {
    request.signal.removeEventListener("abort", release);
    release();
  }
}

// sdk/dist/sender.js
var DEFAULTS = { attempts: 4, maxWaitMs: 3e4 };
var READS = /* @__PURE__ */ new Set(["GET", "HEAD"]);
var CONFLICT = 409;
var TOO_MANY_REQUESTS = 429;
var TEMPORARY2 = /* @__PURE__ */ new Set([TOO_MANY_REQUESTS, 502, 503, 504]);
var BACKOFF_MS = 200;
var Sender = class {
  fetch;
  token;
  retry;
  constructor(fetch2, token, retry = {}) {
    this.fetch = fetch2;
    this.token = token;
    this.retry = { ...DEFAULTS, ...retry };
  }
  /**
   * @param transport sends each attempt, which is a copy of the request with the token
   * @throws the error of the last attempt, or the reason of the signal of the request
   */
  async send(request, transport = this.fetch) {
    const source = request.headers.has("Authorization") ? void 0 : this.token;
    let token = await source?.();
    let isRenewed = false;
    let waitLeft = this.retry.maxWaitMs;
    for (let attempts = 1; ; ) {
      const attempt = withToken(request, token);
      const outcome = await settle2(keepRequest(request, keepRequest(attempt, transport(attempt))));
      if (isUnauthorized(outcome) && token !== void 0 && !isRenewed) {
        const renewed = await source?.(token);
        if (renewed === void 0 || renewed === token)
          return unpack(outcome);
        [token, isRenewed] = [renewed, true];
        await discard(outcome);
        continue;
      }
      const wait = this.waitAfter(outcome, request, attempts);
      if (wait === void 0 || wait > waitLeft)
        return unpack(outcome);
      attempts += 1;
      waitLeft -= wait;
      await discard(outcome);
      await delay(wait, request.signal);
    }
  }
  /** @returns milliseconds to wait for the next attempt; undefined: there is none */
  waitAfter(outcome, request, attempts) {
    if (attempts >= this.retry.attempts || request.signal?.aborted)
      return void 0;
    const isRepeatable = READS.has(request.method) || request.headers.has("Idempotency-Key");
    const backoff = BACKOFF_MS * 2 ** (attempts - 1) * (0.5 + Math.random() / 2);
    if ("error" in outcome)
      return isRepeatable ? backoff : void 0;
    const { status, headers } = outcome.response;
    const seconds = secondsOf(headers.get("Retry-After"));
    const isTemporary = TEMPORARY2.has(status) || status === CONFLICT && seconds !== void 0;
    if (!isTemporary || !(isRepeatable || status === TOO_MANY_REQUESTS))
      return void 0;
    return seconds === void 0 ? backoff : seconds * 1e3;
  }
};
function withToken(request, token) {
  const attempt = new Request(request.clone(), { signal: request.signal });
  if (token !== void 0)
    attempt.headers.set("Authorization", `Bearer ${token}`);
  return attempt;
}
var isUnauthorized = (outcome) => "response" in outcome && outcome.response.status === 401;
function settle2(sending2) {
  return sending2.then((response) => ({ response }), (error) => ({ error }));
}
function unpack(outcome) {
  if ("error" in outcome)
    throw outcome.error;
  return outcome.response;
}
async function discard(outcome) {
  if ("response" in outcome)
    await outcome.response.body?.cancel();
}

// sdk/dist/transport.js
function transportOf(fetch2) {
  return async (request) => keepRequest(request, fetch2 ? fetch2(request) : globalThis.fetch(request));
}

// sdk/dist/client.js
var METHODS = ["GET", "PUT", "POST", "PATCH", "DELETE"];
var KEY_HEADER = "Idempotency-Key";
function createClient2(options) {
  const url = options.url.replace(/\/+$/, "");
  const send = transportOf(options.fetch);
  const sender = new Sender(send, options.token, options.retry);
  const inner = createClient({
    baseUrl: `${url}/apis/v1`,
    fetch: (request) => sender.send(request)
  });
  inner.use(idempotencyKeys);
  const calls = Object.fromEntries(METHODS.map((method) => [method, remembering(inner[method])]));
  return {
    ...calls,
    url,
    upload: new Uploads(inner, sender, send).upload,
    download: new Downloads(inner).download
  };
}
var idempotencyKeys = {
  onRequest({ request, schemaPath }) {
    if (KEYED_OPERATIONS.has(`${request.method} ${schemaPath}`) && !request.headers.has(KEY_HEADER))
      request.headers.set(KEY_HEADER, randomKey());
  }
};
var remembering = (call) => async (path, init) => {
  const result = await call(path, init);
  rememberETag(result.data, result.response);
  return result;
};

// node_modules/oauth4webapi/build/index.js
var USER_AGENT;
if (typeof navigator === "undefined" || !navigator.userAgent?.startsWith?.("Mozilla/5.0 ")) {
  const NAME = "oauth4webapi";
  const VERSION2 = "v3.8.8";
  USER_AGENT = `${NAME}/${VERSION2}`;
}
function looseInstanceOf(input, expected) {
  if (input == null) {
    return false;
  }
  try {
    return input instanceof expected || Object.getPrototypeOf(input)[Symbol.toStringTag] === expected.prototype[Symbol.toStringTag];
  } catch {
    return false;
  }
}
var ERR_INVALID_ARG_VALUE = "ERR_INVALID_ARG_VALUE";
var ERR_INVALID_ARG_TYPE = "ERR_INVALID_ARG_TYPE";
function CodedTypeError(message, code, cause) {
  const err = new TypeError(message, { cause });
  Object.assign(err, { code });
  return err;
}
var allowInsecureRequests = /* @__PURE__ */ Symbol();
var clockSkew = /* @__PURE__ */ Symbol();
var clockTolerance = /* @__PURE__ */ Symbol();
var customFetch = /* @__PURE__ */ Symbol();
var jweDecrypt = /* @__PURE__ */ Symbol();
var encoder = new TextEncoder();
var decoder = new TextDecoder();
function buf(input) {
  if (typeof input === "string") {
    return encoder.encode(input);
  }
  return decoder.decode(input);
}
var encodeBase64Url;
if (Uint8Array.prototype.toBase64) {
  encodeBase64Url = (input) => {
    if (input instanceof ArrayBuffer) {
      input = new Uint8Array(input);
    }
    return input.toBase64({ alphabet: "base64url", omitPadding: true });
  };
} else {
  const CHUNK_SIZE = 32768;
  encodeBase64Url = (input) => {
    if (input instanceof ArrayBuffer) {
      input = new Uint8Array(input);
    }
    const arr = [];
    for (let i = 0; i < input.byteLength; i += CHUNK_SIZE) {
      arr.push(String.fromCharCode.apply(null, input.subarray(i, i + CHUNK_SIZE)));
    }
    return btoa(arr.join("")).replace(/=/g, "").replace(/\+/g, "-").replace(/\//g, "_");
  };
}
var decodeBase64Url;
if (Uint8Array.fromBase64) {
  decodeBase64Url = (input) => {
    try {
      return Uint8Array.fromBase64(input, { alphabet: "base64url" });
    } catch (cause) {
      throw CodedTypeError("The input to be decoded is not correctly encoded.", ERR_INVALID_ARG_VALUE, cause);
    }
  };
} else {
  decodeBase64Url = (input) => {
    try {
      const binary = atob(input.replace(/-/g, "+").replace(/_/g, "/").replace(/\s/g, ""));
      const bytes = new Uint8Array(binary.length);
      for (let i = 0; i < binary.length; i++) {
        bytes[i] = binary.charCodeAt(i);
      }
      return bytes;
    } catch (cause) {
      throw CodedTypeError("The input to be decoded is not correctly encoded.", ERR_INVALID_ARG_VALUE, cause);
    }
  };
}
function b64u(input) {
  if (typeof input === "string") {
    return decodeBase64Url(input);
  }
  return encodeBase64Url(input);
}
var UnsupportedOperationError = class extends Error {
  code;
  constructor(message, options) {
    super(message, options);
    this.name = this.constructor.name;
    this.code = UNSUPPORTED_OPERATION;
    Error.captureStackTrace?.(this, this.constructor);
  }
};
var OperationProcessingError = class extends Error {
  code;
  constructor(message, options) {
    super(message, options);
    this.name = this.constructor.name;
    if (options?.code) {
      this.code = options?.code;
    }
    Error.captureStackTrace?.(this, this.constructor);
  }
};
function OPE(message, code, cause) {
  return new OperationProcessingError(message, { code, cause });
}
function isJsonObject(input) {
  if (input === null || typeof input !== "object" || Array.isArray(input)) {
    return false;
  }
  return true;
}
function prepareHeaders(input) {
  if (looseInstanceOf(input, Headers)) {
    input = Object.fromEntries(input.entries());
  }
  const headers = new Headers(input ?? {});
  if (USER_AGENT && !headers.has("user-agent")) {
    headers.set("user-agent", USER_AGENT);
  }
  if (headers.has("authorization")) {
    throw CodedTypeError('"options.headers" must not include the "authorization" header name', ERR_INVALID_ARG_VALUE);
  }
  return headers;
}
function signal(url, value) {
  if (value !== void 0) {
    if (typeof value === "function") {
      value = value(url.href);
    }
    if (!(value instanceof AbortSignal)) {
      throw CodedTypeError('"options.signal" must return or be an instance of AbortSignal', ERR_INVALID_ARG_TYPE);
    }
    return value;
  }
  return void 0;
}
function replaceDoubleSlash(pathname) {
  if (pathname.includes("//")) {
    return pathname.replace("//", "/");
  }
  return pathname;
}
function prependWellKnown(url, wellKnown, allowTerminatingSlash = false) {
  if (url.pathname === "/") {
    url.pathname = wellKnown;
  } else {
    url.pathname = replaceDoubleSlash(`${wellKnown}/${allowTerminatingSlash ? url.pathname : url.pathname.replace(/(\/)$/, "")}`);
  }
  return url;
}
function appendWellKnown(url, wellKnown) {
  url.pathname = replaceDoubleSlash(`${url.pathname}/${wellKnown}`);
  return url;
}
async function performDiscovery(input, urlName, transform, options) {
  if (!(input instanceof URL)) {
    throw CodedTypeError(`"${urlName}" must be an instance of URL`, ERR_INVALID_ARG_TYPE);
  }
  checkProtocol(input, options?.[allowInsecureRequests] !== true);
  const url = transform(new URL(input.href));
  const headers = prepareHeaders(options?.headers);
  headers.set("accept", "application/json");
  return (options?.[customFetch] || fetch)(url.href, {
    body: void 0,
    headers: Object.fromEntries(headers.entries()),
    method: "GET",
    redirect: "manual",
    signal: signal(url, options?.signal)
  });
}
async function discoveryRequest(issuerIdentifier, options) {
  return performDiscovery(issuerIdentifier, "issuerIdentifier", (url) => {
    switch (options?.algorithm) {
      case void 0:
      case "oidc":
        appendWellKnown(url, ".well-known/openid-configuration");
        break;
      case "oauth2":
        prependWellKnown(url, ".well-known/oauth-authorization-server");
        break;
      default:
        throw CodedTypeError('"options.algorithm" must be "oidc" (default), or "oauth2"', ERR_INVALID_ARG_VALUE);
    }
    return url;
  }, options);
}
function assertNumber(input, allow0, it, code, cause) {
  try {
    if (typeof input !== "number" || !Number.isFinite(input)) {
      throw CodedTypeError(`${it} must be a number`, ERR_INVALID_ARG_TYPE, cause);
    }
    if (input > 0)
      return;
    if (allow0) {
      if (input !== 0) {
        throw CodedTypeError(`${it} must be a non-negative number`, ERR_INVALID_ARG_VALUE, cause);
      }
      return;
    }
    throw CodedTypeError(`${it} must be a positive number`, ERR_INVALID_ARG_VALUE, cause);
  } catch (err) {
    if (code) {
      throw OPE(err.message, code, cause);
    }
    throw err;
  }
}
function assertString(input, it, code, cause) {
  try {
    if (typeof input !== "string") {
      throw CodedTypeError(`${it} must be a string`, ERR_INVALID_ARG_TYPE, cause);
    }
    if (input.length === 0) {
      throw CodedTypeError(`${it} must not be empty`, ERR_INVALID_ARG_VALUE, cause);
    }
  } catch (err) {
    if (code) {
      throw OPE(err.message, code, cause);
    }
    throw err;
  }
}
async function processDiscoveryResponse(expectedIssuerIdentifier, response) {
  const expected = expectedIssuerIdentifier;
  if (!(expected instanceof URL) && expected !== _nodiscoverycheck) {
    throw CodedTypeError('"expectedIssuerIdentifier" must be an instance of URL', ERR_INVALID_ARG_TYPE);
  }
  if (!looseInstanceOf(response, Response)) {
    throw CodedTypeError('"response" must be an instance of Response', ERR_INVALID_ARG_TYPE);
  }
  if (response.status !== 200) {
    throw OPE('"response" is not a conform Authorization Server Metadata response (unexpected HTTP status code)', RESPONSE_IS_NOT_CONFORM, response);
  }
  assertReadableResponse(response);
  const json = await getResponseJsonBody(response);
  assertString(json.issuer, '"response" body "issuer" property', INVALID_RESPONSE, { body: json });
  if (expected !== _nodiscoverycheck && new URL(json.issuer).href !== expected.href) {
    throw OPE('"response" body "issuer" property does not match the expected value', JSON_ATTRIBUTE_COMPARISON, { expected: expected.href, body: json, attribute: "issuer" });
  }
  return json;
}
function assertApplicationJson(response) {
  assertContentType(response, "application/json");
}
function notJson(response, ...types) {
  let msg = '"response" content-type must be ';
  if (types.length > 2) {
    const last = types.pop();
    msg += `${types.join(", ")}, or ${last}`;
  } else if (types.length === 2) {
    msg += `${types[0]} or ${types[1]}`;
  } else {
    msg += types[0];
  }
  return OPE(msg, RESPONSE_IS_NOT_JSON, response);
}
function assertContentType(response, contentType) {
  if (getContentType(response) !== contentType) {
    throw notJson(response, contentType);
  }
}
function randomBytes() {
  return b64u(crypto.getRandomValues(new Uint8Array(32)));
}
function generateRandomCodeVerifier() {
  return randomBytes();
}
function generateRandomState() {
  return randomBytes();
}
function generateRandomNonce() {
  return randomBytes();
}
async function calculatePKCECodeChallenge(codeVerifier) {
  assertString(codeVerifier, "codeVerifier");
  return b64u(await crypto.subtle.digest("SHA-256", buf(codeVerifier)));
}
function getClockSkew(client2) {
  const skew = client2?.[clockSkew];
  return typeof skew === "number" && Number.isFinite(skew) ? skew : 0;
}
function getClockTolerance(client2) {
  const tolerance = client2?.[clockTolerance];
  return typeof tolerance === "number" && Number.isFinite(tolerance) && Math.sign(tolerance) !== -1 ? tolerance : 30;
}
function epochTime() {
  return Math.floor(Date.now() / 1e3);
}
function assertAs(as) {
  if (typeof as !== "object" || as === null) {
    throw CodedTypeError('"as" must be an object', ERR_INVALID_ARG_TYPE);
  }
  assertString(as.issuer, '"as.issuer"');
}
function assertClient(client2) {
  if (typeof client2 !== "object" || client2 === null) {
    throw CodedTypeError('"client" must be an object', ERR_INVALID_ARG_TYPE);
  }
  assertString(client2.client_id, '"client.client_id"');
}
function None() {
  return (_as, client2, body, _headers) => {
    body.set("client_id", client2.client_id);
  };
}
var URLParse = URL.parse ? (url, base) => URL.parse(url, base) : (url, base) => {
  try {
    return new URL(url, base);
  } catch {
    return null;
  }
};
function checkProtocol(url, enforceHttps) {
  if (enforceHttps && url.protocol !== "https:") {
    throw OPE("only requests to HTTPS are allowed", HTTP_REQUEST_FORBIDDEN, url);
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw OPE("only HTTP and HTTPS requests are allowed", REQUEST_PROTOCOL_FORBIDDEN, url);
  }
}
function validateEndpoint(value, endpoint, useMtlsAlias, enforceHttps) {
  let url;
  if (typeof value !== "string" || !(url = URLParse(value))) {
    throw OPE(`authorization server metadata does not contain a valid ${useMtlsAlias ? `"as.mtls_endpoint_aliases.${endpoint}"` : `"as.${endpoint}"`}`, value === void 0 ? MISSING_SERVER_METADATA : INVALID_SERVER_METADATA, { attribute: useMtlsAlias ? `mtls_endpoint_aliases.${endpoint}` : endpoint });
  }
  checkProtocol(url, enforceHttps);
  return url;
}
function resolveEndpoint(as, endpoint, useMtlsAlias, enforceHttps) {
  if (useMtlsAlias && as.mtls_endpoint_aliases && endpoint in as.mtls_endpoint_aliases) {
    return validateEndpoint(as.mtls_endpoint_aliases[endpoint], endpoint, useMtlsAlias, enforceHttps);
  }
  return validateEndpoint(as[endpoint], endpoint, useMtlsAlias, enforceHttps);
}
var ResponseBodyError = class extends Error {
  cause;
  code;
  error;
  status;
  error_description;
  response;
  constructor(message, options) {
    super(message, options);
    this.name = this.constructor.name;
    this.code = RESPONSE_BODY_ERROR;
    this.cause = options.cause;
    this.error = options.cause.error;
    this.status = options.response.status;
    this.error_description = options.cause.error_description;
    Object.defineProperty(this, "response", { enumerable: false, value: options.response });
    Error.captureStackTrace?.(this, this.constructor);
  }
};
var AuthorizationResponseError = class extends Error {
  cause;
  code;
  error;
  error_description;
  constructor(message, options) {
    super(message, options);
    this.name = this.constructor.name;
    this.code = AUTHORIZATION_RESPONSE_ERROR;
    this.cause = options.cause;
    this.error = options.cause.get("error");
    this.error_description = options.cause.get("error_description") ?? void 0;
    Error.captureStackTrace?.(this, this.constructor);
  }
};
var WWWAuthenticateChallengeError = class extends Error {
  cause;
  code;
  response;
  status;
  constructor(message, options) {
    super(message, options);
    this.name = this.constructor.name;
    this.code = WWW_AUTHENTICATE_CHALLENGE;
    this.cause = options.cause;
    this.status = options.response.status;
    this.response = options.response;
    Object.defineProperty(this, "response", { enumerable: false });
    Error.captureStackTrace?.(this, this.constructor);
  }
};
var tokenMatch = "[a-zA-Z0-9!#$%&\\'\\*\\+\\-\\.\\^_`\\|~]+";
var token68Match = "[a-zA-Z0-9\\-\\._\\~\\+\\/]+={0,2}";
var quotedMatch = '"((?:[^"\\\\]|\\\\[\\s\\S])*)"';
var quotedParamMatcher = "(" + tokenMatch + ")\\s*=\\s*" + quotedMatch;
var paramMatcher = "(" + tokenMatch + ")\\s*=\\s*(" + tokenMatch + ")";
var schemeRE = new RegExp("^[,\\s]*(" + tokenMatch + ")");
var quotedParamRE = new RegExp("^[,\\s]*" + quotedParamMatcher + "[,\\s]*(.*)");
var unquotedParamRE = new RegExp("^[,\\s]*" + paramMatcher + "[,\\s]*(.*)");
var token68ParamRE = new RegExp("^(" + token68Match + ")(?:$|[,\\s])(.*)");
function parseWwwAuthenticateChallenges(response) {
  if (!looseInstanceOf(response, Response)) {
    throw CodedTypeError('"response" must be an instance of Response', ERR_INVALID_ARG_TYPE);
  }
  const header = response.headers.get("www-authenticate");
  if (header === null) {
    return void 0;
  }
  const challenges = [];
  let rest = header;
  while (rest) {
    let match = rest.match(schemeRE);
    const scheme = match?.["1"].toLowerCase();
    if (!scheme) {
      return void 0;
    }
    const afterScheme = rest.substring(match[0].length);
    if (afterScheme && !afterScheme.match(/^[\s,]/)) {
      return void 0;
    }
    const spaceMatch = afterScheme.match(/^\s+(.*)$/);
    const hasParameters = !!spaceMatch;
    rest = spaceMatch ? spaceMatch[1] : void 0;
    const parameters = {};
    let token68;
    if (hasParameters) {
      while (rest) {
        let key;
        let value;
        if (match = rest.match(quotedParamRE)) {
          ;
          [, key, value, rest] = match;
          if (value.includes("\\")) {
            value = value.replace(/\\([\s\S])/g, "$1");
          }
          parameters[key.toLowerCase()] = value;
          continue;
        }
        if (match = rest.match(unquotedParamRE)) {
          ;
          [, key, value, rest] = match;
          parameters[key.toLowerCase()] = value;
          continue;
        }
        if (match = rest.match(token68ParamRE)) {
          if (Object.keys(parameters).length) {
            break;
          }
          ;
          [, token68, rest] = match;
          break;
        }
        return void 0;
      }
    } else {
      rest = afterScheme || void 0;
    }
    const challenge = { scheme, parameters };
    if (token68) {
      challenge.token68 = token68;
    }
    challenges.push(challenge);
  }
  if (!challenges.length) {
    return void 0;
  }
  return challenges;
}
async function parseOAuthResponseErrorBody(response) {
  if (response.status > 399 && response.status < 500) {
    assertReadableResponse(response);
    assertApplicationJson(response);
    try {
      const json = await response.clone().json();
      if (isJsonObject(json) && typeof json.error === "string" && json.error.length) {
        return json;
      }
    } catch {
    }
  }
  return void 0;
}
async function checkOAuthBodyError(response, expected, label) {
  if (response.status !== expected) {
    checkAuthenticationChallenges(response);
    let err;
    if (err = await parseOAuthResponseErrorBody(response)) {
      await response.body?.cancel();
      throw new ResponseBodyError("server responded with an error in the response body", {
        cause: err,
        response
      });
    }
    throw OPE(`"response" is not a conform ${label} response (unexpected HTTP status code)`, RESPONSE_IS_NOT_CONFORM, response);
  }
}
function assertDPoP(option) {
  if (!branded.has(option)) {
    throw CodedTypeError('"options.DPoP" is not a valid DPoPHandle', ERR_INVALID_ARG_VALUE);
  }
}
function getContentType(input) {
  return input.headers.get("content-type")?.split(";")[0];
}
async function authenticatedRequest(as, client2, clientAuthentication, url, body, headers, options) {
  await clientAuthentication(as, client2, body, headers);
  headers.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
  return (options?.[customFetch] || fetch)(url.href, {
    body,
    headers: Object.fromEntries(headers.entries()),
    method: "POST",
    redirect: "manual",
    signal: signal(url, options?.signal)
  });
}
async function tokenEndpointRequest(as, client2, clientAuthentication, grantType, parameters, options) {
  const url = resolveEndpoint(as, "token_endpoint", client2.use_mtls_endpoint_aliases, options?.[allowInsecureRequests] !== true);
  parameters.set("grant_type", grantType);
  const headers = prepareHeaders(options?.headers);
  headers.set("accept", "application/json");
  if (options?.DPoP !== void 0) {
    assertDPoP(options.DPoP);
    await options.DPoP.addProof(url, headers, "POST");
  }
  const response = await authenticatedRequest(as, client2, clientAuthentication, url, parameters, headers, options);
  options?.DPoP?.cacheNonce(response, url);
  return response;
}
async function refreshTokenGrantRequest(as, client2, clientAuthentication, refreshToken, options) {
  assertAs(as);
  assertClient(client2);
  assertString(refreshToken, '"refreshToken"');
  const parameters = new URLSearchParams(options?.additionalParameters);
  parameters.set("refresh_token", refreshToken);
  return tokenEndpointRequest(as, client2, clientAuthentication, "refresh_token", parameters, options);
}
var idTokenClaims = /* @__PURE__ */ new WeakMap();
var jwtRefs = /* @__PURE__ */ new WeakMap();
function getValidatedIdTokenClaims(ref) {
  if (!ref.id_token) {
    return void 0;
  }
  const claims = idTokenClaims.get(ref);
  if (!claims) {
    throw CodedTypeError('"ref" was already garbage collected or did not resolve from the proper sources', ERR_INVALID_ARG_VALUE);
  }
  return claims;
}
async function processGenericAccessTokenResponse(as, client2, response, additionalRequiredIdTokenClaims, decryptFn, recognizedTokenTypes) {
  assertAs(as);
  assertClient(client2);
  if (!looseInstanceOf(response, Response)) {
    throw CodedTypeError('"response" must be an instance of Response', ERR_INVALID_ARG_TYPE);
  }
  await checkOAuthBodyError(response, 200, "Token Endpoint");
  assertReadableResponse(response);
  const json = await getResponseJsonBody(response);
  assertString(json.access_token, '"response" body "access_token" property', INVALID_RESPONSE, {
    body: json
  });
  assertString(json.token_type, '"response" body "token_type" property', INVALID_RESPONSE, {
    body: json
  });
  json.token_type = json.token_type.toLowerCase();
  if (json.expires_in !== void 0) {
    let expiresIn = typeof json.expires_in !== "number" ? parseFloat(json.expires_in) : json.expires_in;
    assertNumber(expiresIn, true, '"response" body "expires_in" property', INVALID_RESPONSE, {
      body: json
    });
    json.expires_in = expiresIn;
  }
  if (json.refresh_token !== void 0) {
    assertString(json.refresh_token, '"response" body "refresh_token" property', INVALID_RESPONSE, {
      body: json
    });
  }
  if (json.scope !== void 0 && typeof json.scope !== "string") {
    throw OPE('"response" body "scope" property must be a string', INVALID_RESPONSE, { body: json });
  }
  if (json.id_token !== void 0) {
    assertString(json.id_token, '"response" body "id_token" property', INVALID_RESPONSE, {
      body: json
    });
    const requiredClaims = [];
    if (client2.require_auth_time === true) {
      requiredClaims.push("auth_time");
    }
    if (client2.default_max_age !== void 0) {
      assertNumber(client2.default_max_age, true, '"client.default_max_age"');
      requiredClaims.push("auth_time");
    }
    if (additionalRequiredIdTokenClaims?.length) {
      requiredClaims.push(...additionalRequiredIdTokenClaims);
    }
    const { claims, jwt } = await validateIdTokenClaims(as, client2, json.id_token, requiredClaims, decryptFn);
    validateIdTokenAuthorizedParty(client2, claims);
    validateIdTokenAuthTimeClaim(claims);
    jwtRefs.set(response, jwt);
    idTokenClaims.set(json, claims);
  }
  if (recognizedTokenTypes?.[json.token_type] !== void 0) {
    recognizedTokenTypes[json.token_type](response, json);
  } else if (json.token_type !== "dpop" && json.token_type !== "bearer") {
    throw new UnsupportedOperationError("unsupported `token_type` value", { cause: { body: json } });
  }
  return json;
}
function checkAuthenticationChallenges(response) {
  let challenges;
  if (challenges = parseWwwAuthenticateChallenges(response)) {
    throw new WWWAuthenticateChallengeError("server responded with a challenge in the WWW-Authenticate HTTP Header", { cause: challenges, response });
  }
}
async function processRefreshTokenResponse(as, client2, response, options) {
  return processGenericAccessTokenResponse(as, client2, response, void 0, options?.[jweDecrypt], options?.recognizedTokenTypes);
}
function validateAudience(expected, result) {
  if (Array.isArray(result.claims.aud)) {
    if (!result.claims.aud.includes(expected)) {
      throw OPE('unexpected JWT "aud" (audience) claim value', JWT_CLAIM_COMPARISON, {
        expected,
        claims: result.claims,
        claim: "aud"
      });
    }
  } else if (result.claims.aud !== expected) {
    throw OPE('unexpected JWT "aud" (audience) claim value', JWT_CLAIM_COMPARISON, {
      expected,
      claims: result.claims,
      claim: "aud"
    });
  }
  return result;
}
function validateIssuer(as, result) {
  const expected = as[_expectedIssuer]?.(result) ?? as.issuer;
  if (result.claims.iss !== expected) {
    throw OPE('unexpected JWT "iss" (issuer) claim value', JWT_CLAIM_COMPARISON, {
      expected,
      claims: result.claims,
      claim: "iss"
    });
  }
  return result;
}
var branded = /* @__PURE__ */ new WeakSet();
function brand(searchParams) {
  branded.add(searchParams);
  return searchParams;
}
var nopkce = /* @__PURE__ */ Symbol();
async function authorizationCodeGrantRequest(as, client2, clientAuthentication, callbackParameters, redirectUri, codeVerifier, options) {
  assertAs(as);
  assertClient(client2);
  if (!branded.has(callbackParameters)) {
    throw CodedTypeError('"callbackParameters" must be an instance of URLSearchParams obtained from "validateAuthResponse()", or "validateJwtAuthResponse()', ERR_INVALID_ARG_VALUE);
  }
  assertString(redirectUri, '"redirectUri"');
  const code = getURLSearchParameter(callbackParameters, "code");
  if (!code) {
    throw OPE('no authorization code in "callbackParameters"', INVALID_RESPONSE);
  }
  const parameters = new URLSearchParams(options?.additionalParameters);
  parameters.set("redirect_uri", redirectUri);
  parameters.set("code", code);
  if (codeVerifier !== nopkce) {
    assertString(codeVerifier, '"codeVerifier"');
    parameters.set("code_verifier", codeVerifier);
  }
  return tokenEndpointRequest(as, client2, clientAuthentication, "authorization_code", parameters, options);
}
var jwtClaimNames = {
  aud: "audience",
  c_hash: "code hash",
  client_id: "client id",
  exp: "expiration time",
  iat: "issued at",
  iss: "issuer",
  jti: "jwt id",
  nonce: "nonce",
  s_hash: "state hash",
  sub: "subject",
  ath: "access token hash",
  htm: "http method",
  htu: "http uri",
  cnf: "confirmation",
  auth_time: "authentication time"
};
function validatePresence(required, result) {
  for (const claim of required) {
    if (result.claims[claim] === void 0) {
      throw OPE(`JWT "${claim}" (${jwtClaimNames[claim]}) claim missing`, INVALID_RESPONSE, {
        claims: result.claims
      });
    }
  }
  return result;
}
function validateStringClaim(claim, result) {
  if (typeof result.claims[claim] !== "string") {
    throw OPE(`unexpected JWT "${claim}" (${jwtClaimNames[claim]}) claim type`, INVALID_RESPONSE, {
      claims: result.claims
    });
  }
  return result;
}
function validateIdTokenClaims(as, client2, idToken, requiredClaims, decryptFn) {
  return validateJwt(idToken, checkSigningAlgorithm.bind(void 0, client2.id_token_signed_response_alg, as.id_token_signing_alg_values_supported, "RS256"), getClockSkew(client2), getClockTolerance(client2), decryptFn).then(validatePresence.bind(void 0, ["aud", "exp", "iat", "iss", "sub", ...requiredClaims])).then(validateIssuer.bind(void 0, as)).then(validateAudience.bind(void 0, client2.client_id)).then(validateStringClaim.bind(void 0, "sub"));
}
function resolveIdTokenMaxAge(client2, maxAge) {
  if (maxAge === skipAuthTimeCheck) {
    return maxAge;
  }
  const fromClient = maxAge === void 0;
  if (fromClient) {
    maxAge = client2.default_max_age;
  }
  if (maxAge === void 0) {
    return skipAuthTimeCheck;
  }
  assertNumber(maxAge, true, fromClient ? '"client.default_max_age"' : '"maxAge" argument');
  return maxAge;
}
function validateIdTokenAuthTimeClaim(claims) {
  if (claims.auth_time !== void 0) {
    assertNumber(claims.auth_time, true, 'ID Token "auth_time" (authentication time)', INVALID_RESPONSE, { claims });
  }
}
function validateIdTokenAuthTime(client2, claims, maxAge) {
  if (maxAge === skipAuthTimeCheck) {
    return;
  }
  const now = epochTime() + getClockSkew(client2);
  const tolerance = getClockTolerance(client2);
  if (claims.auth_time + maxAge < now - tolerance) {
    throw OPE("too much time has elapsed since the last End-User authentication", JWT_TIMESTAMP_CHECK, { claims, now, tolerance, claim: "auth_time" });
  }
}
function validateIdTokenNonce(claims, expectedNonce) {
  const expected = expectedNonce === expectNoNonce ? void 0 : expectedNonce;
  if (claims.nonce !== expected) {
    throw OPE('unexpected ID Token "nonce" claim value', JWT_CLAIM_COMPARISON, {
      expected,
      claims,
      claim: "nonce"
    });
  }
}
function validateIdTokenAuthorizedParty(client2, claims) {
  if (Array.isArray(claims.aud) && claims.aud.length !== 1) {
    if (claims.azp === void 0) {
      throw OPE('ID Token "aud" (audience) claim includes additional untrusted audiences', JWT_CLAIM_COMPARISON, { claims, claim: "aud" });
    }
    if (claims.azp !== client2.client_id) {
      throw OPE('unexpected ID Token "azp" (authorized party) claim value', JWT_CLAIM_COMPARISON, {
        expected: client2.client_id,
        claims,
        claim: "azp"
      });
    }
  }
}
var expectNoNonce = /* @__PURE__ */ Symbol();
var skipAuthTimeCheck = /* @__PURE__ */ Symbol();
async function processAuthorizationCodeResponse(as, client2, response, options) {
  if (typeof options?.expectedNonce === "string" || typeof options?.maxAge === "number" || options?.requireIdToken) {
    return processAuthorizationCodeOpenIDResponse(as, client2, response, options.expectedNonce, options.maxAge, options[jweDecrypt], options.recognizedTokenTypes);
  }
  return processAuthorizationCodeOAuth2Response(as, client2, response, options?.maxAge, options?.[jweDecrypt], options?.recognizedTokenTypes);
}
async function processAuthorizationCodeOpenIDResponse(as, client2, response, expectedNonce, maxAge, decryptFn, recognizedTokenTypes) {
  const additionalRequiredClaims = [];
  switch (expectedNonce) {
    case void 0:
      expectedNonce = expectNoNonce;
      break;
    case expectNoNonce:
      break;
    default:
      assertString(expectedNonce, '"expectedNonce" argument');
      additionalRequiredClaims.push("nonce");
  }
  maxAge = resolveIdTokenMaxAge(client2, maxAge);
  if (maxAge !== skipAuthTimeCheck) {
    additionalRequiredClaims.push("auth_time");
  }
  const result = await processGenericAccessTokenResponse(as, client2, response, additionalRequiredClaims, decryptFn, recognizedTokenTypes);
  assertString(result.id_token, '"response" body "id_token" property', INVALID_RESPONSE, {
    body: result
  });
  const claims = getValidatedIdTokenClaims(result);
  validateIdTokenAuthTime(client2, claims, maxAge);
  validateIdTokenNonce(claims, expectedNonce);
  return result;
}
async function processAuthorizationCodeOAuth2Response(as, client2, response, maxAge, decryptFn, recognizedTokenTypes) {
  const result = await processGenericAccessTokenResponse(as, client2, response, void 0, decryptFn, recognizedTokenTypes);
  const claims = getValidatedIdTokenClaims(result);
  if (claims) {
    validateIdTokenAuthTime(client2, claims, resolveIdTokenMaxAge(client2, maxAge));
    validateIdTokenNonce(claims, expectNoNonce);
  }
  return result;
}
var WWW_AUTHENTICATE_CHALLENGE = "OAUTH_WWW_AUTHENTICATE_CHALLENGE";
var RESPONSE_BODY_ERROR = "OAUTH_RESPONSE_BODY_ERROR";
var UNSUPPORTED_OPERATION = "OAUTH_UNSUPPORTED_OPERATION";
var AUTHORIZATION_RESPONSE_ERROR = "OAUTH_AUTHORIZATION_RESPONSE_ERROR";
var PARSE_ERROR = "OAUTH_PARSE_ERROR";
var INVALID_RESPONSE = "OAUTH_INVALID_RESPONSE";
var RESPONSE_IS_NOT_JSON = "OAUTH_RESPONSE_IS_NOT_JSON";
var RESPONSE_IS_NOT_CONFORM = "OAUTH_RESPONSE_IS_NOT_CONFORM";
var HTTP_REQUEST_FORBIDDEN = "OAUTH_HTTP_REQUEST_FORBIDDEN";
var REQUEST_PROTOCOL_FORBIDDEN = "OAUTH_REQUEST_PROTOCOL_FORBIDDEN";
var JWT_TIMESTAMP_CHECK = "OAUTH_JWT_TIMESTAMP_CHECK_FAILED";
var JWT_CLAIM_COMPARISON = "OAUTH_JWT_CLAIM_COMPARISON_FAILED";
var JSON_ATTRIBUTE_COMPARISON = "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED";
var MISSING_SERVER_METADATA = "OAUTH_MISSING_SERVER_METADATA";
var INVALID_SERVER_METADATA = "OAUTH_INVALID_SERVER_METADATA";
async function revocationRequest(as, client2, clientAuthentication, token, options) {
  assertAs(as);
  assertClient(client2);
  assertString(token, '"token"');
  const url = resolveEndpoint(as, "revocation_endpoint", client2.use_mtls_endpoint_aliases, options?.[allowInsecureRequests] !== true);
  const body = new URLSearchParams(options?.additionalParameters);
  body.set("token", token);
  const headers = prepareHeaders(options?.headers);
  headers.delete("accept");
  return authenticatedRequest(as, client2, clientAuthentication, url, body, headers, options);
}
async function processRevocationResponse(response) {
  if (!looseInstanceOf(response, Response)) {
    throw CodedTypeError('"response" must be an instance of Response', ERR_INVALID_ARG_TYPE);
  }
  await checkOAuthBodyError(response, 200, "Revocation Endpoint");
  return void 0;
}
function assertReadableResponse(response) {
  if (response.bodyUsed) {
    throw CodedTypeError('"response" body has been used already', ERR_INVALID_ARG_VALUE);
  }
}
async function validateJwt(jws, checkAlg, clockSkew2, clockTolerance2, decryptJwt) {
  let { 0: protectedHeader, 1: payload, length } = jws.split(".");
  if (length === 5) {
    if (decryptJwt !== void 0) {
      jws = await decryptJwt(jws);
      ({ 0: protectedHeader, 1: payload, length } = jws.split("."));
    } else {
      throw new UnsupportedOperationError("JWE decryption is not configured", { cause: jws });
    }
  }
  if (length !== 3) {
    throw OPE("Invalid JWT", INVALID_RESPONSE, jws);
  }
  let header;
  try {
    header = JSON.parse(buf(b64u(protectedHeader)));
  } catch (cause) {
    throw OPE("failed to parse JWT Header body as base64url encoded JSON", PARSE_ERROR, cause);
  }
  if (!isJsonObject(header)) {
    throw OPE("JWT Header must be a top level object", INVALID_RESPONSE, jws);
  }
  checkAlg(header);
  if (header.crit !== void 0) {
    throw new UnsupportedOperationError('no JWT "crit" header parameter extensions are supported', {
      cause: { header }
    });
  }
  let claims;
  try {
    claims = JSON.parse(buf(b64u(payload)));
  } catch (cause) {
    throw OPE("failed to parse JWT Payload body as base64url encoded JSON", PARSE_ERROR, cause);
  }
  if (!isJsonObject(claims)) {
    throw OPE("JWT Payload must be a top level object", INVALID_RESPONSE, jws);
  }
  const now = epochTime() + clockSkew2;
  if (claims.exp !== void 0) {
    if (typeof claims.exp !== "number") {
      throw OPE('unexpected JWT "exp" (expiration time) claim type', INVALID_RESPONSE, { claims });
    }
    if (claims.exp <= now - clockTolerance2) {
      throw OPE('unexpected JWT "exp" (expiration time) claim value, expiration is past current timestamp', JWT_TIMESTAMP_CHECK, { claims, now, tolerance: clockTolerance2, claim: "exp" });
    }
  }
  if (claims.iat !== void 0) {
    if (typeof claims.iat !== "number") {
      throw OPE('unexpected JWT "iat" (issued at) claim type', INVALID_RESPONSE, { claims });
    }
  }
  if (claims.iss !== void 0) {
    if (typeof claims.iss !== "string") {
      throw OPE('unexpected JWT "iss" (issuer) claim type', INVALID_RESPONSE, { claims });
    }
  }
  if (claims.nbf !== void 0) {
    if (typeof claims.nbf !== "number") {
      throw OPE('unexpected JWT "nbf" (not before) claim type', INVALID_RESPONSE, { claims });
    }
    if (claims.nbf > now + clockTolerance2) {
      throw OPE('unexpected JWT "nbf" (not before) claim value', JWT_TIMESTAMP_CHECK, {
        claims,
        now,
        tolerance: clockTolerance2,
        claim: "nbf"
      });
    }
  }
  if (claims.aud !== void 0) {
    if (typeof claims.aud !== "string" && !Array.isArray(claims.aud)) {
      throw OPE('unexpected JWT "aud" (audience) claim type', INVALID_RESPONSE, { claims });
    }
  }
  return { header, claims, jwt: jws };
}
function checkSigningAlgorithm(client2, issuer, fallback, header) {
  if (client2 !== void 0) {
    if (typeof client2 === "string" ? header.alg !== client2 : !client2.includes(header.alg)) {
      throw OPE('unexpected JWT "alg" header parameter', INVALID_RESPONSE, {
        header,
        expected: client2,
        reason: "client configuration"
      });
    }
    return;
  }
  if (Array.isArray(issuer)) {
    if (!issuer.includes(header.alg)) {
      throw OPE('unexpected JWT "alg" header parameter', INVALID_RESPONSE, {
        header,
        expected: issuer,
        reason: "authorization server metadata"
      });
    }
    return;
  }
  if (fallback !== void 0) {
    if (typeof fallback === "string" ? header.alg !== fallback : typeof fallback === "function" ? !fallback(header.alg) : !fallback.includes(header.alg)) {
      throw OPE('unexpected JWT "alg" header parameter', INVALID_RESPONSE, {
        header,
        expected: fallback,
        reason: "default value"
      });
    }
    return;
  }
  throw OPE('missing client or server configuration to verify used JWT "alg" header parameter', void 0, { client: client2, issuer, fallback });
}
function getURLSearchParameter(parameters, name) {
  const { 0: value, length } = parameters.getAll(name);
  if (length > 1) {
    throw OPE(`"${name}" parameter must be provided only once`, INVALID_RESPONSE);
  }
  return value;
}
var skipStateCheck = /* @__PURE__ */ Symbol();
var expectNoState = /* @__PURE__ */ Symbol();
function validateAuthResponse(as, client2, parameters, expectedState) {
  assertAs(as);
  assertClient(client2);
  if (parameters instanceof URL) {
    parameters = parameters.searchParams;
  }
  if (!(parameters instanceof URLSearchParams)) {
    throw CodedTypeError('"parameters" must be an instance of URLSearchParams, or URL', ERR_INVALID_ARG_TYPE);
  }
  if (getURLSearchParameter(parameters, "response")) {
    throw OPE('"parameters" contains a JARM response, use validateJwtAuthResponse() instead of validateAuthResponse()', INVALID_RESPONSE, { parameters });
  }
  const iss = getURLSearchParameter(parameters, "iss");
  const state = getURLSearchParameter(parameters, "state");
  if (!iss && as.authorization_response_iss_parameter_supported) {
    throw OPE('response parameter "iss" (issuer) missing', INVALID_RESPONSE, { parameters });
  }
  if (iss && iss !== as.issuer) {
    throw OPE('unexpected "iss" (issuer) response parameter value', INVALID_RESPONSE, {
      expected: as.issuer,
      parameters
    });
  }
  switch (expectedState) {
    case void 0:
    case expectNoState:
      if (state !== void 0) {
        throw OPE('unexpected "state" response parameter encountered', INVALID_RESPONSE, {
          expected: void 0,
          parameters
        });
      }
      break;
    case skipStateCheck:
      break;
    default:
      assertString(expectedState, '"expectedState" argument');
      if (state !== expectedState) {
        throw OPE(state === void 0 ? 'response parameter "state" missing' : 'unexpected "state" response parameter value', INVALID_RESPONSE, { expected: expectedState, parameters });
      }
  }
  const error = getURLSearchParameter(parameters, "error");
  if (error) {
    throw new AuthorizationResponseError("authorization response from the server is an error", {
      cause: parameters
    });
  }
  const id_token = getURLSearchParameter(parameters, "id_token");
  const token = getURLSearchParameter(parameters, "token");
  if (id_token !== void 0 || token !== void 0) {
    throw new UnsupportedOperationError("implicit and hybrid flows are not supported");
  }
  return brand(new URLSearchParams(parameters));
}
async function deviceAuthorizationRequest(as, client2, clientAuthentication, parameters, options) {
  assertAs(as);
  assertClient(client2);
  const url = resolveEndpoint(as, "device_authorization_endpoint", client2.use_mtls_endpoint_aliases, options?.[allowInsecureRequests] !== true);
  const body = new URLSearchParams(parameters);
  body.set("client_id", client2.client_id);
  const headers = prepareHeaders(options?.headers);
  headers.set("accept", "application/json");
  return authenticatedRequest(as, client2, clientAuthentication, url, body, headers, options);
}
async function processDeviceAuthorizationResponse(as, client2, response) {
  assertAs(as);
  assertClient(client2);
  if (!looseInstanceOf(response, Response)) {
    throw CodedTypeError('"response" must be an instance of Response', ERR_INVALID_ARG_TYPE);
  }
  await checkOAuthBodyError(response, 200, "Device Authorization Endpoint");
  assertReadableResponse(response);
  const json = await getResponseJsonBody(response);
  assertString(json.device_code, '"response" body "device_code" property', INVALID_RESPONSE, {
    body: json
  });
  assertString(json.user_code, '"response" body "user_code" property', INVALID_RESPONSE, {
    body: json
  });
  assertString(json.verification_uri, '"response" body "verification_uri" property', INVALID_RESPONSE, { body: json });
  let expiresIn = typeof json.expires_in !== "number" ? parseFloat(json.expires_in) : json.expires_in;
  assertNumber(expiresIn, true, '"response" body "expires_in" property', INVALID_RESPONSE, {
    body: json
  });
  json.expires_in = expiresIn;
  if (json.verification_uri_complete !== void 0) {
    assertString(json.verification_uri_complete, '"response" body "verification_uri_complete" property', INVALID_RESPONSE, { body: json });
  }
  if (json.interval !== void 0) {
    assertNumber(json.interval, false, '"response" body "interval" property', INVALID_RESPONSE, {
      body: json
    });
  }
  return json;
}
async function deviceCodeGrantRequest(as, client2, clientAuthentication, deviceCode, options) {
  assertAs(as);
  assertClient(client2);
  assertString(deviceCode, '"deviceCode"');
  const parameters = new URLSearchParams(options?.additionalParameters);
  parameters.set("device_code", deviceCode);
  return tokenEndpointRequest(as, client2, clientAuthentication, "urn:ietf:params:oauth:grant-type:device_code", parameters, options);
}
async function processDeviceCodeResponse(as, client2, response, options) {
  return processGenericAccessTokenResponse(as, client2, response, void 0, options?.[jweDecrypt], options?.recognizedTokenTypes);
}
async function getResponseJsonBody(response, check = assertApplicationJson) {
  let json;
  try {
    json = await response.json();
  } catch (cause) {
    check(response);
    throw OPE('failed to parse "response" body as JSON', PARSE_ERROR, cause);
  }
  if (!isJsonObject(json)) {
    throw OPE('"response" body must be a top level object', INVALID_RESPONSE, { body: json });
  }
  return json;
}
var _nodiscoverycheck = /* @__PURE__ */ Symbol();
var _expectedIssuer = /* @__PURE__ */ Symbol();

// sdk/dist/sign-in/provider.js
var TIMEOUT_MS = 3e4;
var Provider = class {
  client;
  authentication = None();
  scope;
  issuer;
  send;
  metadata;
  constructor({ url, clientId, scope = "openid workspace", fetch: fetch2 }) {
    this.issuer = new URL(`${url.replace(/\/+$/, "")}/apis/v1/oidc`);
    this.client = { client_id: clientId };
    this.scope = scope;
    this.send = transportOf(fetch2);
  }
  /** Identifies the provider and the client, for names of stored values and locks. */
  get name() {
    return `${this.issuer.href} ${this.client.client_id}`;
  }
  /** The metadata of the provider. A failed attempt is repeated by the next call. */
  server() {
    this.metadata ??= this.discover().catch((error) => {
      this.metadata = void 0;
      throw error;
    });
    return this.metadata;
  }
  /** Options of a request. HTTP is allowed for loopback addresses, as in RFC 8252, section 8.3. */
  options(signal2) {
    return {
      [customFetch]: (url, init) => this.send(new Request(url, init)),
      [allowInsecureRequests]: isLoopback(this.issuer),
      // React Native lacks it, and has limits of its own.
      signal: signal2 ?? AbortSignal.timeout?.(TIMEOUT_MS)
    };
  }
  async discover() {
    const response = await discoveryRequest(this.issuer, this.options());
    return processDiscoveryResponse(this.issuer, response);
  }
};
function tokensOf(response) {
  return {
    accessToken: response.access_token,
    expiresAt: Date.now() + (response.expires_in ?? 0) * 1e3,
    refreshToken: response.refresh_token,
    idToken: response.id_token
  };
}
function isLoopback({ hostname }) {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}

// sdk/dist/sign-in/code-flow.js
var MAX_STARTED = 5;
var CodeFlow = class {
  provider;
  storage;
  key;
  constructor(provider, storage) {
    this.provider = provider;
    this.storage = storage;
    this.key = `${provider.name} started`;
  }
  /** @returns the address that the browser opens */
  async start({ redirectUri, parameters = {}, state }) {
    const server = await this.provider.server();
    const verifier = generateRandomCodeVerifier();
    const started = {
      id: generateRandomState(),
      verifier,
      nonce: generateRandomNonce(),
      redirectUri,
      state
    };
    const url = new URL(server.authorization_endpoint);
    const query = {
      ...parameters,
      client_id: this.provider.client.client_id,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: this.provider.scope,
      state: started.id,
      nonce: started.nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256"
    };
    for (const [name, value] of Object.entries(query))
      url.searchParams.set(name, value);
    await this.store([started, ...await this.read()].slice(0, MAX_STARTED));
    return url;
  }
  /**
   * @param callback the address to which the provider redirected
   * @throws AuthorizationResponseError with `error`, such as `access_denied`, of the provider
   */
  async complete(callback) {
    const id = callback.searchParams.get("state");
    const all = await this.read();
    const started = all.find((one) => one.id === id);
    if (!started)
      throw new Error("The sign-in was not started here, or is already completed.");
    await this.store(all.filter((one) => one !== started));
    const server = await this.provider.server();
    const { client: client2, authentication } = this.provider;
    const parameters = validateAuthResponse(server, client2, callback, started.id);
    const response = await authorizationCodeGrantRequest(server, client2, authentication, parameters, started.redirectUri, started.verifier, this.provider.options());
    const expected = { expectedNonce: started.nonce, requireIdToken: true };
    const granted = await processAuthorizationCodeResponse(server, client2, response, expected);
    return { tokens: tokensOf(granted), state: started.state };
  }
  async read() {
    return JSON.parse(await this.storage.getItem(this.key) ?? "[]");
  }
  async store(started) {
    if (started.length === 0)
      await this.storage.removeItem(this.key);
    else
      await this.storage.setItem(this.key, JSON.stringify(started));
  }
};

// sdk/dist/sign-in/device-flow.js
var INTERVAL_SECONDS = 5;
async function signInDevice(provider, { onCode, signal: signal2 }) {
  const server = await provider.server();
  const { client: client2, authentication, scope } = provider;
  const request = { scope };
  const options = provider.options(signal2);
  const begun = await processDeviceAuthorizationResponse(server, client2, await deviceAuthorizationRequest(server, client2, authentication, request, options));
  await onCode({
    userCode: begun.user_code,
    verificationUri: begun.verification_uri,
    verificationUriComplete: begun.verification_uri_complete,
    expiresIn: begun.expires_in
  });
  let seconds = begun.interval ?? INTERVAL_SECONDS;
  for (; ; ) {
    const response = await deviceCodeGrantRequest(server, client2, authentication, begun.device_code, options);
    try {
      return tokensOf(await processDeviceCodeResponse(server, client2, response));
    } catch (error) {
      const code = error instanceof ResponseBodyError ? error.error : void 0;
      if (code !== "authorization_pending" && code !== "slow_down")
        throw error;
      if (code === "slow_down")
        seconds += INTERVAL_SECONDS;
    }
    await delay(seconds * 1e3, signal2);
  }
}

// sdk/dist/sign-in/exclusive.js
var queues = /* @__PURE__ */ new Map();
async function exclusively(name, work) {
  const { locks } = globalThis.navigator ?? {};
  if (!locks)
    return inThisProcess(name, work);
  const done = await locks.request(name, { ifAvailable: true }, async (lock) => lock ? { result: await work(false) } : void 0);
  return done ? done.result : locks.request(name, {}, () => work(true));
}
function inThisProcess(name, work) {
  const previous = queues.get(name);
  const result = previous ? previous.then(() => work(true)) : work(false);
  const end = result.then(() => void 0, () => void 0);
  queues.set(name, end);
  void end.then(() => queues.get(name) === end && queues.delete(name));
  return result;
}

// sdk/dist/sign-in/tabs.js
var Tabs = class {
  channel;
  constructor(name, onMessage) {
    if (typeof BroadcastChannel !== "function")
      return;
    this.channel = new BroadcastChannel(name);
    this.channel.addEventListener("message", ({ data }) => onMessage(data));
    this.channel.unref?.();
  }
  send(message) {
    this.channel?.postMessage(message);
  }
  close() {
    this.channel?.close();
  }
};

// sdk/dist/sign-in/sign-in.js
var RENEW_BEFORE_MS = 3e4;
var [MESSAGE_MS, LOOK_MS] = [2e3, 20];
var SignIn = class {
  provider;
  storage;
  codeFlow;
  tabs;
  key;
  listeners = /* @__PURE__ */ new Set();
  access;
  /** Counts the changes of `access`. */
  changes = 0;
  idToken;
  constructor({ storage, ...options }) {
    this.provider = new Provider(options);
    this.storage = storage;
    this.codeFlow = new CodeFlow(this.provider, storage);
    this.key = `${this.provider.name} refresh token`;
    this.tabs = new Tabs(this.provider.name, (message) => void this.hear(message).catch(() => void 0));
  }
  /** Starts a sign-in in a browser. @returns the address to open: `location.assign(url)` */
  start(options) {
    return this.codeFlow.start(options);
  }
  /** Completes a sign-in. @param callback the address of the page after the redirect @returns `state` of the start */
  async complete(callback) {
    const { tokens, state } = await this.codeFlow.complete(new URL(callback));
    await exclusively(this.key, () => this.store(tokens));
    return state;
  }
  /** Signs in a program without a browser. Resolves when its user has confirmed the code. */
  async device(options) {
    const tokens = await signInDevice(this.provider, options);
    await exclusively(this.key, () => this.store(tokens));
  }
  /**
   * The access token, renewed when it is about to end. The `token` of `createClient`.
   * @param rejected the token that the service rejected: it is renewed although it has not ended
   * @returns undefined if nobody is signed in
   * @throws Error if the provider cannot be reached; the sign-in remains
   */
  token = async (rejected) => {
    if (this.isUsable(rejected))
      return this.access?.token;
    return exclusively(this.key, async (hasWaited) => {
      if (hasWaited)
        await soon(() => this.isUsable(rejected));
      if (!this.isUsable(rejected))
        await this.renew();
      return this.access?.token;
    });
  };
  /** True if there is a refresh token; the service may have ended it. */
  async isSignedIn() {
    return this.access !== void 0 || await this.read() !== void 0;
  }
  /** Calls the listener when the user signs in or out, in this tab or another. @returns a function that removes it */
  onChange(listener) {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
  /**
   * Ends the grant at the provider (RFC 7009), and removes the tokens in all tabs. The tokens are removed also if the provider cannot be
   * reached; then the call rejects.
   */
  async signOut() {
    await exclusively(this.key, async () => {
      const stored = await this.read();
      await this.clear();
      if (stored)
        await this.revoke(stored.refreshToken);
    });
  }
  /** The page that ends the session of the browser at the provider, after `signOut` (OpenID Connect RP-Initiated Logout 1.0). */
  async endSessionUrl(postLogoutRedirectUri) {
    const server = await this.provider.server();
    const url = new URL(server.end_session_endpoint);
    url.searchParams.set("client_id", this.provider.client.client_id);
    if (this.idToken)
      url.searchParams.set("id_token_hint", this.idToken);
    if (postLogoutRedirectUri)
      url.searchParams.set("post_logout_redirect_uri", postLogoutRedirectUri);
    return url;
  }
  /** Ends the messages between tabs. The sign-in remains. */
  close() {
    this.tabs.close();
    this.listeners.clear();
  }
  isUsable(rejected) {
    return this.access !== void 0 && this.access.token !== rejected && Date.now() < this.access.renewAt;
  }
  /**
   * A message may be late, or of a tab with another storage, such as `sessionStorage`: it counts if it agrees with what is stored.
   * A browser may show a change of the storage to other tabs after the message.
   */
  async hear(message) {
    await soon(async () => {
      const before = this.changes;
      const stored = await this.read();
      if (this.changes !== before)
        return false;
      if (message.kind === "signed-out") {
        if (!stored)
          this.forget();
        return !stored;
      }
      const isNewest = message.access.id === stored?.id;
      if (isNewest)
        this.take(message.access);
      return isNewest;
    });
  }
  /** Runs exclusively. */
  async renew() {
    const stored = await this.read();
    if (!stored)
      return this.forget();
    const server = await this.provider.server();
    const { client: client2, authentication } = this.provider;
    const options = this.provider.options();
    try {
      const response = await refreshTokenGrantRequest(server, client2, authentication, stored.refreshToken, options);
      const tokens = tokensOf(await processRefreshTokenResponse(server, client2, response));
      await this.store({ ...tokens, refreshToken: tokens.refreshToken ?? stored.refreshToken });
    } catch (error) {
      if (!(error instanceof ResponseBodyError) || error.error !== "invalid_grant")
        throw error;
      await this.clear();
    }
  }
  /** Runs exclusively. The refresh token is stored before its access token is used: a crash in between loses nothing. */
  async store({ accessToken, expiresAt, refreshToken, idToken }) {
    const access = { id: randomKey(), token: accessToken, expiresAt };
    const stored = refreshToken === void 0 ? void 0 : { refreshToken, id: access.id };
    if (stored)
      await this.storage.setItem(this.key, JSON.stringify(stored));
    else
      await this.storage.removeItem(this.key);
    this.idToken = idToken ?? this.idToken;
    this.take(access);
    this.tabs.send({ kind: "tokens", access });
  }
  take(access) {
    const left = access.expiresAt - Date.now();
    const wasSignedOut = this.access === void 0;
    this.access = { ...access, renewAt: access.expiresAt - Math.min(RENEW_BEFORE_MS, left / 10) };
    this.changes += 1;
    if (wasSignedOut)
      this.report("signed-in");
  }
  async clear() {
    await this.storage.removeItem(this.key);
    this.forget();
    this.tabs.send({ kind: "signed-out" });
  }
  forget() {
    const wasSignedIn = this.access !== void 0;
    this.access = void 0;
    this.changes += 1;
    if (wasSignedIn)
      this.report("signed-out");
  }
  report(state) {
    for (const listener of this.listeners)
      listener(state);
  }
  async read() {
    return JSON.parse(await this.storage.getItem(this.key) ?? "null") ?? void 0;
  }
  async revoke(refreshToken) {
    const server = await this.provider.server();
    const { client: client2, authentication } = this.provider;
    const response = await revocationRequest(server, client2, authentication, refreshToken, this.provider.options());
    await processRevocationResponse(response);
  }
};
async function soon(look) {
  const end = Date.now() + MESSAGE_MS;
  while (!await look() && Date.now() < end)
    await delay(LOOK_MS);
}

// examples/notes-web/src/session.ts
var CLIENT = "notes-web";
var KEY = "notes-web account";
var page = new URL(location.pathname, location.origin).href;
var signIn = new SignIn({ url: location.origin, clientId: CLIENT, storage: localStorage });
var client = createClient2({ url: location.origin, token: signIn.token });
var isSignedIn = () => signIn.isSignedIn();
var onSignInChange = (listener) => void signIn.onChange(listener);
async function startSignIn() {
  location.assign(await signIn.start({ redirectUri: page }));
}
async function completeSignIn() {
  const callback = location.href;
  const query = new URL(callback).searchParams;
  if (!query.has("code") && !query.has("error")) return;
  history.replaceState(null, "", page);
  await signIn.complete(callback);
  forgetAccount();
}
function storedAccount() {
  return JSON.parse(localStorage.getItem(KEY) ?? "null") ?? void 0;
}
async function readAccount() {
  const stored = storedAccount();
  if (stored) return stored;
  const [{ profile }, { tenant }] = await Promise.all([
    client.GET("/settings/profile").then(unwrap),
    client.GET("/tenant").then(unwrap)
  ]);
  const account = { user: profile.id, workspace: tenant.id, name: profile.display_name };
  localStorage.setItem(KEY, JSON.stringify(account));
  return account;
}
var forgetAccount = () => localStorage.removeItem(KEY);
async function signOut() {
  try {
    await signIn.signOut();
    location.assign(await signIn.endSessionUrl(page));
  } catch {
    location.assign(page);
  }
}

// examples/notes-web/src/device.ts
async function openDevice({ user, workspace: tenant }) {
  const name = `notes-web ${tenant} ${user}`;
  const conflicts = new Conflicts(`${name} conflict `);
  const store2 = await indexedDbStore(name);
  const workspace = await openWorkspace({
    client,
    store: store2,
    user: `${tenant} ${user}`,
    collections: ["notes"],
    resolve: conflicts.resolve,
    device: "notes-web"
  });
  void navigator.storage?.persist?.();
  return {
    workspace,
    notes: workspace.collection("notes"),
    conflicts,
    async erase() {
      await workspace.close();
      conflicts.clear();
      await deleteDatabase(name);
    }
  };
}
function deleteDatabase(name) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name);
    request.addEventListener("success", () => resolve());
    request.addEventListener("error", () => reject(request.error ?? new Error("The notes are not deleted.")));
  });
}

// examples/notes-web/src/dom.ts
function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no #${id}.`);
  return found;
}
function create(name, className, ...children) {
  const element = document.createElement(name);
  if (className !== "") element.className = className;
  element.append(...children);
  return element;
}
function button(text, className, work) {
  const element = create("button", className, text);
  element.type = "button";
  element.addEventListener("click", () => {
    element.disabled = true;
    run(async () => {
      try {
        await work();
      } finally {
        element.disabled = false;
      }
    });
  });
  return element;
}
function run(work) {
  hideError();
  work().catch(showError);
}
function showError(error) {
  const alert = byId("alert");
  alert.textContent = error instanceof Error ? error.message : String(error);
  alert.hidden = false;
}
var hideError = () => void (byId("alert").hidden = true);
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// examples/notes-web/src/content.ts
var UNSAFE = "script, style, link, meta, base, iframe, frame, object, embed, form";
var PARKED = /^(?:on|style$|src|srcset$|poster$|background$|autofocus$|contenteditable$)/i;
var PREFIX = "data-kept-";
function showContent(element, html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const unsafe of body.querySelectorAll(UNSAFE)) unsafe.remove();
  for (const one of body.querySelectorAll("*"))
    for (const name of one.getAttributeNames()) if (PARKED.test(name)) rename(one, name, PREFIX + name);
  element.replaceChildren(...body.childNodes);
}
function readContent(element) {
  const copy = element.cloneNode(true);
  const { body } = new DOMParser().parseFromString("", "text/html");
  body.append(...copy.childNodes);
  for (const one of body.querySelectorAll("*"))
    for (const name of one.getAttributeNames())
      if (name.startsWith(PREFIX)) rename(one, name, name.slice(PREFIX.length));
  return body.innerHTML;
}
function rename(element, from, to) {
  const value = element.getAttribute(from) ?? "";
  element.removeAttribute(from);
  element.setAttribute(to, value);
}
function textOf(html) {
  const { body } = new DOMParser().parseFromString(html.replaceAll("<", " <"), "text/html");
  return (body.textContent ?? "").replaceAll(/\s+/g, " ").trim();
}
function makeEditor(element) {
  document.execCommand("defaultParagraphSeparator", false, "p");
  element.addEventListener("input", () => {
    if (element.firstChild?.nodeType === Node.TEXT_NODE) document.execCommand("formatBlock", false, "p");
  });
  element.addEventListener("paste", (event) => {
    event.preventDefault();
    document.execCommand("insertText", false, event.clipboardData?.getData("text/plain") ?? "");
  });
}

// examples/notes-web/src/conflict-panel.ts
var ConflictPanel = class {
  /** @param keep called with the fields of the chosen version */
  constructor(keep) {
    this.keep = keep;
  }
  keep;
  panel = byId("conflict");
  shown;
  /** @param versions undefined hides the panel */
  show(versions) {
    const key = JSON.stringify(versions);
    if (key === this.shown) return;
    this.shown = key;
    this.panel.hidden = versions === void 0;
    byId("versions").replaceChildren(
      ...versions ? [
        this.version("Your version", versions, "mine"),
        this.version("The other version", versions, "theirs")
      ] : []
    );
  }
  version(name, versions, side) {
    const list2 = create("dl", "text");
    const fields = {};
    if (versions.title) {
      fields.title = versions.title[side];
      list2.append(create("dt", "", "Title"), create("dd", "", fields.title));
    }
    if (versions.content) {
      fields.content = versions.content[side];
      const text = create("dd", "");
      showContent(text, fields.content);
      list2.append(create("dt", "", "Text"), text);
    }
    const choice = button(side === "mine" ? "Keep mine" : "Keep theirs", "", () => this.keep(fields));
    return create("article", "", create("h4", "", name), list2, choice);
  }
};

// examples/notes-web/src/editor.ts
var Editor = class {
  /** @param opened called with the id of the shown note, undefined for a new one, and after the form closes */
  constructor(device, opened) {
    this.device = device;
    this.opened = opened;
    makeEditor(this.content);
    this.title.addEventListener("input", () => this.typed.add("title"));
    this.content.addEventListener("input", () => this.typed.add("content"));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      run(() => this.save());
    });
    this.form.addEventListener("keydown", (event) => {
      if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    addEventListener("beforeunload", (event) => {
      if (this.typed.size > 0) event.preventDefault();
    });
    device.conflicts.onChange(() => this.showConflict());
  }
  device;
  opened;
  /** The note that the form was filled with; undefined: a new one. */
  seen;
  isOpen = false;
  /** What the user has typed since then. */
  typed = /* @__PURE__ */ new Set();
  title = byId("title");
  content = byId("content");
  form = byId("editor");
  panel = new ConflictPanel((fields) => this.write(fields, void 0));
  get id() {
    return this.seen?.id;
  }
  /** Opens a note, or the form of a new one, and saves the unsaved fields of the note before it. */
  async open(id) {
    await this.leave();
    const note = id === void 0 ? void 0 : await this.device.notes.get(id);
    this.isOpen = true;
    this.fill(note);
    this.say("");
    this.opened(note?.id, true);
    this.title.focus();
  }
  /** Saves the unsaved fields, and closes the form. */
  async leave() {
    if (this.typed.size > 0) await this.save();
    this.close();
  }
  /** Follows the changes of others, and of other tabs. What the user types stays. */
  follow(notes) {
    if (!this.seen) return;
    const { id } = this.seen;
    const note = notes.find((one) => one.id === id);
    if (!note) return this.lose();
    const isSame = note.title === this.seen.title && note.content === this.seen.content;
    if (this.typed.size === 0) this.fill(note, isSame);
    else if (!isSame) this.say("Someone else has changed this note. Your changes are merged when you save.");
  }
  /** Moves the open note into the trash. @returns its id, undefined for a new one */
  async remove() {
    const id = this.seen?.id;
    this.close();
    if (id !== void 0) await this.device.notes.remove(id);
    return id;
  }
  /** Fills the form with what the device has, such as after changes were discarded. */
  async reload() {
    const note = this.seen && await this.device.notes.get(this.seen.id);
    if (note) this.fill(note);
    else this.close();
  }
  async save() {
    if (!this.form.reportValidity()) throw new Error("A note needs a title.");
    const fields = {};
    if (!this.seen || this.typed.has("title")) fields.title = this.title.value;
    if (this.typed.has("content")) fields.content = readContent(this.content);
    await this.write(fields, this.seen);
  }
  /**
   * Saves fields, which decides a conflict that is shown.
   * @param seen the note that the fields were made from; undefined: they replace what the device has
   */
  async write(fields, seen) {
    const { notes, conflicts } = this.device;
    const before = this.seen;
    const decided = before && conflicts.get(before.id);
    if (before && decided) conflicts.delete(before.id);
    let id;
    try {
      id = before ? before.id : await notes.create({ ...fields, title: fields.title ?? "" });
      if (before) await notes.update(before.id, fields, seen);
    } catch (error) {
      if (before && decided) conflicts.set(before.id, decided);
      throw error instanceof ItemError ? new Error("Someone else has deleted this note.") : error;
    }
    this.fill(await notes.get(id));
    this.say("Saved on this device.");
    this.opened(id, true);
  }
  /** @param keeps the fields, only the rest of the note is newer */
  fill(note, keeps = false) {
    this.seen = note;
    this.typed.clear();
    if (!keeps) {
      this.title.value = note?.title ?? "";
      showContent(this.content, note?.content ?? "");
    }
    const isReadable = note?.role === "viewer";
    this.title.readOnly = isReadable;
    this.content.contentEditable = String(!isReadable);
    byId("save").hidden = isReadable;
    byId("delete").hidden = note === void 0 || note.role !== void 0 && note.role !== "owner";
    setText(byId("note-title"), note ? "Note" : "New note");
    this.showConflict();
  }
  showConflict() {
    const versions = this.isOpen && this.seen ? this.device.conflicts.get(this.seen.id) : void 0;
    this.panel.show(versions);
    setText(byId("save"), versions ? "Save the merge" : "Save");
  }
  /** The note is deleted, or no longer shared. The fields that the user has typed become a new note. */
  lose() {
    if (this.typed.size === 0) return this.close();
    const text = { title: this.title.value, content: readContent(this.content) };
    this.fill(void 0);
    this.title.value = text.title;
    showContent(this.content, text.content);
    this.typed.add("title").add("content");
    this.opened(void 0, true);
    this.say("Someone else has deleted this note. Save your text as a new note.");
  }
  close() {
    this.isOpen = false;
    this.fill(void 0);
    this.opened(void 0, false);
  }
  say(text) {
    setText(byId("hint"), text);
  }
};

// examples/notes-web/src/note-list.ts
var PREVIEW = 80;
var NoteList = class {
  /** @param open called with the id of the chosen note */
  constructor(open) {
    this.open = open;
    this.search.addEventListener("input", () => this.render());
  }
  open;
  entries = /* @__PURE__ */ new Map();
  texts = /* @__PURE__ */ new WeakMap();
  list = byId("list");
  search = byId("search");
  empty = byId("empty");
  notes = [];
  marks = { pending: /* @__PURE__ */ new Map(), hasConflict: () => false };
  current;
  /** Shows the notes and their marks. A missing parameter leaves the ones before. */
  show(changes2) {
    this.notes = changes2.notes ?? this.notes;
    this.marks = changes2.marks ?? this.marks;
    this.render();
  }
  select(id) {
    this.current = id;
    this.render();
  }
  /** Moves the focus to a note, or to the search. */
  focus(id) {
    const entry = id === void 0 ? void 0 : this.entries.get(id);
    (entry?.button ?? this.search).focus();
  }
  render() {
    const query = this.search.value.trim().toLowerCase();
    const shown = this.notes.filter((note) => this.textOf(note).toLowerCase().includes(query));
    const items = shown.map((note) => this.entryOf(note).item);
    const isSame = items.length === this.list.children.length && items.every((one, n) => one === this.list.children[n]);
    if (!isSame) {
      const focused = document.activeElement;
      this.list.replaceChildren(...items);
      if (focused && this.list.contains(focused)) focused.focus();
    }
    for (const id of this.entries.keys())
      if (!this.notes.some((note) => note.id === id)) this.entries.delete(id);
    this.empty.hidden = shown.length > 0;
    setText(this.empty, query === "" ? "There are no notes yet." : "No note contains these words.");
  }
  entryOf(note) {
    const entry = this.entries.get(note.id) ?? this.newEntry(note.id);
    setText(entry.title, note.title ?? "");
    setText(
      entry.preview,
      this.textOf(note).slice((note.title ?? "").length, PREVIEW).trim()
    );
    setText(entry.mark, this.markOf(note.id));
    if (note.id === this.current) entry.button.setAttribute("aria-current", "true");
    else entry.button.removeAttribute("aria-current");
    return entry;
  }
  newEntry(id) {
    const [title, preview, mark] = [create("strong", ""), create("span", ""), create("span", "mark")];
    const button2 = create("button", "", title, preview, mark);
    button2.type = "button";
    button2.addEventListener("click", () => this.open(id));
    const entry = { item: create("li", "", button2), button: button2, title, preview, mark };
    this.entries.set(id, entry);
    return entry;
  }
  markOf(id) {
    if (this.marks.hasConflict(id)) return "Two versions";
    const change = this.marks.pending.get(id);
    if (!change) return "";
    return change.problem ? "Rejected" : "Not sent yet";
  }
  /** Title and text. */
  textOf(note) {
    let text = this.texts.get(note);
    if (text === void 0) {
      text = `${note.title ?? ""} ${textOf(note.content ?? "")}`;
      this.texts.set(note, text);
    }
    return text;
  }
};

// examples/notes-web/src/status.ts
var PHASES = {
  starting: "Starting",
  syncing: "Synchronising",
  idle: "Up to date",
  waiting: "Waiting for the service",
  offline: "Offline",
  "signed-out": "Signed out",
  "storage-full": "Storage full",
  failed: "Not synchronised"
};
var changes = (count) => count === 1 ? "1 change" : `${count} changes`;
function showStatus({ phase, message }, count) {
  if (phase !== "syncing") setText(byId("phase"), PHASES[phase]);
  const banner = byId("banner");
  const text = bannerText(phase, message, count);
  if (text === void 0) {
    if (phase !== "syncing") banner.hidden = true;
    return;
  }
  banner.hidden = false;
  const isShown = banner.dataset["text"] === text;
  if (isShown) return;
  banner.dataset["text"] = text;
  banner.replaceChildren(text);
  if (phase === "signed-out") banner.append(button("Sign in again", "second", startSignIn));
}
function bannerText(phase, message, count) {
  const waiting = `${changes(count)} ${count === 1 ? "waits" : "wait"}`;
  switch (phase) {
    case "offline":
      return count === 0 ? "There is no connection. You can read and write; changes are sent later." : `There is no connection. ${waiting} until there is one.`;
    case "signed-out":
      return `Your session has ended. ${count === 0 ? "What you write stays on this device." : `${waiting} until you sign in again.`}`;
    case "storage-full":
      return "The storage of this device is full. Notes of the service are missing here, and new changes cannot be saved.";
    case "waiting":
    case "failed":
      return `${message ?? "The service cannot be used at the moment."}${count === 0 ? "" : ` ${waiting}.`}`;
    default:
      return void 0;
  }
}
function showProblem(change, { retry, discard: discard2, copy }) {
  const box = byId("problem");
  const problem = change?.problem;
  const key = JSON.stringify(problem ?? null);
  if (box.dataset["key"] === key) return;
  box.dataset["key"] = key;
  box.hidden = problem === void 0;
  box.replaceChildren();
  if (!problem) return;
  const repeat = problem.code === "removed" ? button("Save as a new note", "second", copy) : button("Try again", "second", retry);
  box.append(
    `The service rejects your changes: ${problem.message}`,
    repeat,
    button("Discard my changes", "second", discard2)
  );
}

// examples/notes-web/src/main.ts
var LAST_SYNC_MS = 5e3;
var byTime = (one, other) => timeOf(other).localeCompare(timeOf(one));
var timeOf = ({ updated_at: time = "9", id }) => `${time} ${id}`;
function show(part) {
  for (const id of ["loading", "welcome", "notes"]) byId(id).hidden = id !== part;
}
async function begin() {
  byId("sign-in").addEventListener("click", () => run(startSignIn));
  await completeSignIn().catch(showError);
  const stored = storedAccount();
  if (!await isSignedIn()) {
    if (stored)
      setText(
        byId("welcome-text"),
        `Your session has ended. What you have saved on this device is kept: sign in as ${stored.name} again.`
      );
    show("welcome");
    onSignInChange((state) => state === "signed-in" && location.reload());
    return;
  }
  const account = await readAccount();
  setText(byId("name"), account.name);
  byId("account").hidden = false;
  useDevice(await openDevice(account));
  show("notes");
}
function useDevice(device) {
  const { workspace, notes, conflicts } = device;
  let pending = /* @__PURE__ */ new Map();
  let state = workspace.state;
  const view = byId("notes");
  const list2 = new NoteList((id) => run(() => editor.open(id)));
  const editor = new Editor(device, (id, isOpen) => {
    view.dataset["view"] = isOpen ? "note" : "list";
    byId("opened").hidden = !isOpen;
    byId("nothing").hidden = isOpen;
    list2.select(id);
    showRest();
  });
  const showRest = () => {
    list2.show({ marks: { pending, hasConflict: (id) => conflicts.get(id) !== void 0 } });
    showStatus(state, pending.size);
    const change = editor.id === void 0 ? void 0 : pending.get(editor.id);
    showProblem(change, remediesOf(change?.id ?? ""));
  };
  const remediesOf = (id) => ({
    retry: () => notes.retry(id),
    discard: async () => {
      await notes.discard(id);
      await editor.reload();
    },
    copy: async () => {
      const { title = "", content } = await notes.get(id) ?? {};
      const copy = await notes.create({ title, ...content !== void 0 && { content } });
      await notes.discard(id);
      await editor.open(copy);
    }
  });
  const readPending = async () => {
    pending = new Map((await workspace.pending()).map((change) => [change.id, change]));
    showRest();
  };
  view.dataset["view"] = "list";
  notes.live(
    { sort: byTime },
    (items) => {
      list2.show({ notes: items });
      editor.follow(items);
    },
    showError
  );
  workspace.onChange(() => void readPending().catch(showError));
  workspace.onState((next) => {
    state = next;
    showRest();
  });
  conflicts.onChange(showRest);
  void readPending().catch(showError);
  byId("new").addEventListener("click", () => run(() => editor.open(void 0)));
  byId("back").addEventListener(
    "click",
    () => run(async () => {
      const { id } = editor;
      await editor.leave();
      list2.focus(id);
    })
  );
  byId("delete").addEventListener(
    "click",
    () => run(async () => {
      const id = await editor.remove();
      list2.focus(void 0);
      if (id !== void 0) offerRestore(() => notes.restore(id));
    })
  );
  endSession(device);
}
function offerRestore(restore) {
  const notice = byId("notice");
  const hide = () => void (notice.hidden = true);
  const undo = button("Restore it", "second", () => restore().then(hide));
  notice.replaceChildren(
    "The note is in the trash.",
    undo,
    button("Close", "second", async () => hide())
  );
  notice.hidden = false;
}
function endSession(device) {
  let isLeaving = false;
  byId("sign-out").addEventListener(
    "click",
    () => run(async () => {
      await device.workspace.sync(AbortSignal.timeout(LAST_SYNC_MS)).catch(() => void 0);
      const left = (await device.workspace.pending()).length;
      if (left > 0 && !await confirmLeave(left)) return;
      isLeaving = true;
      forgetAccount();
      await device.erase();
      await signOut();
    })
  );
  onSignInChange((state) => {
    if (state === "signed-out" && !isLeaving && !storedAccount()) location.reload();
  });
}
function confirmLeave(count) {
  const dialog = byId("leave");
  const number = count === 1 ? "1 change is" : `${count} changes are`;
  setText(byId("leave-text"), `${number} on this device only. Without a connection they cannot be sent.`);
  dialog.returnValue = "stay";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "leave"), { once: true });
  });
}
void navigator.serviceWorker?.register("/apis/v1/docs/example/notes-web-worker.js", { scope: page }).catch(showError);
await begin().catch((error) => {
  show("welcome");
  showError(error);
});

/*
 * diff (BSD-3-Clause)
 *
 * BSD 3-Clause License
 *
 * Copyright (c) 2009-2015, Kevin Decker <kpdecker@gmail.com>
 * All rights reserved.
 *
 * Redistribution and use in source and binary forms, with or without
 * modification, are permitted provided that the following conditions are met:
 *
 * 1. Redistributions of source code must retain the above copyright notice, this
 *    list of conditions and the following disclaimer.
 *
 * 2. Redistributions in binary form must reproduce the above copyright notice,
 *    this list of conditions and the following disclaimer in the documentation
 *    and/or other materials provided with the distribution.
 *
 * 3. Neither the name of the copyright holder nor the names of its
 *    contributors may be used to endorse or promote products derived from
 *    this software without specific prior written permission.
 *
 * THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS"
 * AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE
 * IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
 * DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE
 * FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
 * DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
 * SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER
 * CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY,
 * OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
 * OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
 */

/*
 * idb (ISC)
 *
 * ISC License (ISC)
 * Copyright (c) 2016, Jake Archibald <jaffathecake@gmail.com>
 *
 * Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.
 *
 * THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
 */

/*
 * oauth4webapi (MIT)
 *
 * The MIT License (MIT)
 *
 * Copyright (c) 2022 Filip Skokan
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software and associated documentation files (the "Software"), to deal
 * in the Software without restriction, including without limitation the rights
 * to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 */

/*
 * openapi-fetch (MIT)
 *
 * MIT License
 *
 * Copyright (c) 2023 Drew Powers
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software and associated documentation files (the "Software"), to deal
 * in the Software without restriction, including without limitation the rights
 * to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 */
