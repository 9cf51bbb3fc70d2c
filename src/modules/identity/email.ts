/**
 * Whether two addresses certainly name one mailbox: equal but for the case of ASCII letters. Stricter than `emailKey`, for
 * where a claim to an address opens an account: letters that merely look alike are other mailboxes.
 */
export function sameMailbox(one: string, other: string): boolean {
  const plain = (email: string) => email.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return plain(one) === plain(other);
}

/** An address as it is compared and kept unique: without case and compatibility differences. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase();
}
