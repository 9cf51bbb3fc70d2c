/**
 * Whether two addresses identify the same mailbox: equal except for the case of ASCII letters. Stricter than `emailKey`,
 * for claims that open an account: look-alike letters are different mailboxes.
 */
export function sameMailbox(a: string, b: string): boolean {
  const plain = (email: string) => email.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return plain(a) === plain(b);
}

/** The comparison key of an address: without differences of case and Unicode compatibility. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase();
}
