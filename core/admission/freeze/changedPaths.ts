/** Paths for a message: a write may change any number of fields, with names of any length. */
import { firstFew, MAX_LISTED } from '../../kube/firstFew.ts';

const MAX_PATH = 300;

export class FewPaths {
  count = 0;
  readonly #first: string[] = [];

  add(path: readonly string[]): void {
    this.count++;
    if (this.#first.length < MAX_LISTED) this.#first.push(path.join('.').slice(0, MAX_PATH));
  }

  /** The first few, and how many more. */
  get text(): string {
    return firstFew(this.#first, this.count);
  }
}
