// The reviewed corrections of date-holidays. Each has its source, a law or an official announcement, and the date of its review.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { africaAndAmerica } from './africa-and-america.mjs';
import { china } from './china.mjs';
import { europe } from './europe.mjs';
import { japanAndKorea } from './japan-and-korea.mjs';
import { southAndWestAsia } from './south-and-west-asia.mjs';
import { southEastAsia } from './south-east-asia.mjs';
import { sriLankaAndBangladesh } from './sri-lanka-and-bangladesh.mjs';
import { taiwan } from './taiwan.mjs';

export const corrections = [
  ...japanAndKorea,
  ...china,
  ...taiwan,
  ...southEastAsia,
  ...southAndWestAsia,
  ...sriLankaAndBangladesh,
  ...europe,
  ...africaAndAmerica,
];

/** Changes with the corrections and their rules: the compiled file names the corrections that it has. */
export function fingerprint() {
  const own = import.meta.dirname;
  const files = readdirSync(own)
    .toSorted()
    .map((name) => path.join(own, name));
  const rules = ['days.mjs', 'overlay.mjs', 'rules.mjs'].map((name) => path.join(own, '..', name));
  const hash = createHash('sha256');
  for (const file of [...files, ...rules]) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}
