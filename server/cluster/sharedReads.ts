/**
 * Reads that many ask for at once, done once for all of them: the Gate of a freeze, the objects of a namespace in which
 * many Rollouts are created. A read joins the next one of the same object, never one that is under way: nobody gets what
 * was read before they asked.
 */
import type { ClusterReader } from '../../api/ports.ts';

interface Flight<T> {
  underWay: Promise<unknown>;
  next?: Promise<T>;
}

export function withSharedReads(reader: ClusterReader): ClusterReader {
  return {
    ...reader,
    get: shared(reader.get) as ClusterReader['get'],
    list: shared(reader.list) as ClusterReader['list'],
    listMetadata: shared(reader.listMetadata),
  };
}

/** `read`, at most one at a time for the same argument. */
export function shared<Ref, T>(read: (ref: Ref) => Promise<T>): (ref: Ref) => Promise<T> {
  const flights = new Map<string, Flight<T>>();

  function depart(key: string, ref: Ref): Promise<T> {
    const underWay = read(ref);
    const flight: Flight<T> = { underWay };
    flights.set(key, flight);
    const landed = () => {
      if (!flight.next) flights.delete(key);
    };
    underWay.then(landed, landed);
    return underWay;
  }

  return (ref) => {
    const key = JSON.stringify(ref);
    const flight = flights.get(key);
    if (!flight) return depart(key, ref);
    const goOn = () => depart(key, ref);
    flight.next ??= flight.underWay.then(goOn, goOn);
    return flight.next;
  };
}
