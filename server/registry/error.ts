/** Why a registry gave no answer. The message carries no header, no body and no URL with a query: those can hold secrets. */
export class RegistryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RegistryError';
  }
}
