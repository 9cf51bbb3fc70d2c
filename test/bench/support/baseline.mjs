// Ratios of an earlier run, so that a change that costs processor time is seen. A ratio compares the server with its floor in one run:
// it depends on the machine much less than a time does.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** From this ratio to the baseline on, an operation counts as slower. */
const SLOWER = 1.1;

export class Baseline {
  #file;
  #key;
  #all;

  /** @param file URL of the JSON file @param key of the settings that the ratios depend on */
  constructor(file, key) {
    this.#file = file;
    this.#key = key;
    this.#all = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  }

  /** How the ratio of an operation compares with the stored one, as text; `-` where none is stored. */
  compared(operation, ratio) {
    const stored = this.#all[this.#key]?.[operation];
    if (stored === undefined || !Number.isFinite(ratio)) return '-';
    const change = ratio / stored;
    return `${change.toFixed(2)}${change >= SLOWER ? ' SLOWER' : ''}`;
  }

  /** Stores the ratio of an operation in place of the earlier one. */
  record(operation, ratio) {
    if (!Number.isFinite(ratio)) return;
    const own = { ...this.#all[this.#key], [operation]: Number(ratio.toFixed(2)) };
    this.#all = { ...this.#all, [this.#key]: own };
    writeFileSync(this.#file, `${JSON.stringify(this.#all, null, 2)}\n`);
  }
}
