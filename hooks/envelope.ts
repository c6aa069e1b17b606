/** Whether a request is what Metacontroller would send to this hook. */
import { Ajv, type ValidateFunction } from 'ajv';
import { HookError } from './hook.ts';

const ajv = new Ajv({ allErrors: false });

const object = (kinds: readonly string[]) => ({
  type: 'object',
  required: ['apiVersion', 'kind', 'metadata'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string', enum: kinds },
    metadata: {
      type: 'object',
      required: ['name', 'uid'],
      properties: { name: { type: 'string' }, uid: { type: 'string' } },
    },
  },
});

/** A check that throws HookError 400 naming the field that is wrong. `subject` is `parent` or `object`. */
export function envelopeCheck(subject: 'parent' | 'object', kinds: readonly string[]): (body: unknown) => void {
  const validate: ValidateFunction = ajv.compile({
    type: 'object',
    required: [subject],
    properties: {
      [subject]: object(kinds),
      related: { type: ['object', 'null'] },
      children: { type: ['object', 'null'] },
      attachments: { type: ['object', 'null'] },
    },
  });
  return (body) => {
    if (validate(body)) return;
    const [error] = validate.errors ?? [];
    const allowed = error?.params?.allowedValues ? `: ${error.params.allowedValues.join(', ')}` : '';
    throw new HookError(
      400,
      `not a request for this hook: ${error?.instancePath || 'body'} ${error?.message}${allowed}`,
    );
  };
}
