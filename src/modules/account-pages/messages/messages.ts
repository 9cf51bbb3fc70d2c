import type { Catalogues } from '../../../platform/languages/languages.js';
import { de } from './de.js';
import { en } from './en.js';
import { pt } from './pt.js';
import { vi } from './vi.js';

export type MessageKey = keyof typeof en;

/** Texts of the pages of links in mails. */
export const MESSAGES: Catalogues<MessageKey> = { en, de, pt, vi };
