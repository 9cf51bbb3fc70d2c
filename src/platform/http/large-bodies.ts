import { Errors } from './errors.js';

/** Large bodies in the memory of this process at once, and of one person. */
const MAX_AT_ALL = 8;
const MAX_PER_PERSON = 2;

/** Bounds the memory that large JSON bodies take: they are held whole, as bytes, as text and as what they say. */
export class LargeBodies {
  private readonly perPerson = new Map<string, number>();
  private all = 0;

  /**
   * @returns gives the place back
   * @throws ApiError 503 `overloaded`, before anything of the body has been read
   */
  enter(person: string): () => void {
    const theirs = this.perPerson.get(person) ?? 0;
    if (theirs >= MAX_PER_PERSON || this.all >= MAX_AT_ALL)
      throw Errors.overloaded.with({ headers: { 'Retry-After': '1' } });
    this.perPerson.set(person, theirs + 1);
    this.all += 1;
    return () => {
      this.all -= 1;
      const left = (this.perPerson.get(person) ?? 1) - 1;
      if (left > 0) this.perPerson.set(person, left);
      else this.perPerson.delete(person);
    };
  }
}
