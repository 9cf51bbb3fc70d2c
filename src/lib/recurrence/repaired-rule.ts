import { parseRule, partsOf, type Rule, RULE_PARTS } from './rule.js';

/**
 * Reads a rule that breaks RFC 5545, 3.3.10, in a way that leaves its meaning clear: empty parts, parts of a program (`X-...`, which
 * RFC 2445 allowed), a part that is given twice with the same value, `INTERVAL=0`, numbers of weekdays under a frequency that has none.
 * @returns one rule; two with COUNT and UNTIL, of which the one that ends first is meant; none for an empty text
 * @throws RecurrenceError for any other fault
 */
export function repairRule(text: string): Rule[] {
  const parts = new Set<string>();
  for (const part of partsOf(text)) {
    const [name = '', value = ''] = part.split('=', 2);
    const isEmpty = value === '' && (part === '' || RULE_PARTS.has(name));
    if (!isEmpty && !name.startsWith('X-') && part !== 'INTERVAL=0') parts.add(part);
  }
  if (parts.size === 0) return [];
  const all = [...parts];
  const isNumbered = all.some((part) => part === 'FREQ=MONTHLY' || part === 'FREQ=YEARLY');
  const plain = isNumbered
    ? all
    : all.map((part) => (part.startsWith('BYDAY=') ? part.replaceAll(/[+-]?\d+(?=[A-Z])/g, '') : part));
  const without = (name: string): string => plain.filter((part) => !part.startsWith(`${name}=`)).join(';');
  const hasBoth = ['COUNT=', 'UNTIL='].every((name) => plain.some((part) => part.startsWith(name)));
  return hasBoth ? [parseRule(without('UNTIL')), parseRule(without('COUNT'))] : [parseRule(plain.join(';'))];
}
