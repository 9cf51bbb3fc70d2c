import type { Language } from '../../../../platform/languages/languages.js';
import { isDay, wallOf } from '../../model/event-times.js';
import { instantsOf } from '../poll.presenter.js';
import type { OptionRow } from '../poll-record.js';

/** The time of an option as text, in a time zone. */
export function optionText(option: OptionRow, timeZone: string, language: Language): string {
  if (isDay(option.starts)) {
    const days = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeZone: 'UTC' });
    return days.formatRange(wallOf(option.starts) * 1000, wallOf(option.ends) * 1000);
  }
  const { start, end } = instantsOf(option, timeZone);
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'short', timeZone });
  return format.formatRange(start * 1000, end * 1000);
}
