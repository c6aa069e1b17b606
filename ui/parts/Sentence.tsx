/** A sentence of the cluster's, with its times as this page writes times. */
import { clockTime, fullTime, now } from '../state/clock.ts';

const TIME = /(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)/;

export function Sentence({ text }: { text: string }) {
  return (
    <>
      {text.split(TIME).map((part, index) =>
        index % 2 === 1 ? (
          <time key={index} dateTime={part} title={fullTime(part)}>
            {clockTime(part, now.value)}
          </time>
        ) : (
          part
        ),
      )}
    </>
  );
}
