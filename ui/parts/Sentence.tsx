/** A sentence from the cluster, with its times in the page's format. */
import { At } from './Time.tsx';

const TIME = /(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)/;

export function Sentence({ text }: { text: string }) {
  return <>{text.split(TIME).map((part, index) => (index % 2 === 1 ? <At key={index} time={part} /> : part))}</>;
}
