/** An address as it is compared and kept unique: without case and compatibility differences. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase();
}
