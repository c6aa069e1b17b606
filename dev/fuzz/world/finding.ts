/** A property that does not hold: what the fuzzer looks for. */
export class Finding extends Error {}

export function expectThat(holds: boolean, what: string, details: object = {}): void {
  if (!holds)
    throw new Finding(
      `${what}\n${JSON.stringify(details, (key, value) => (key === 'managedFields' ? undefined : value))}`,
    );
}
