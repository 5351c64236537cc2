/** The moment that arm and charts show, and playback. */
import { batch, computed, signal } from "@preact/signals-core";

export class Clock {
  readonly start = signal(0);
  readonly end = signal(1);
  /** Where playback is. */
  readonly now = signal(0);
  /** A moment that the pointer is over; it goes before `now`. */
  readonly hover = signal<number | null>(null);
  readonly shown = computed(() => this.hover.value ?? this.now.value);
  readonly playing = signal(false);
  readonly speed = signal(1);
  private rest = 0;

  span(start: number, end: number): void {
    batch(() => {
      this.start.value = start;
      this.end.value = end;
      this.now.value = Math.min(Math.max(this.now.peek(), start), end);
    });
  }

  set(t: number): void {
    this.now.value = Math.min(Math.max(t, this.start.peek()), this.end.peek());
  }

  /** Go to a moment and stay there. */
  stay(t: number): void {
    this.pause();
    batch(() => {
      this.hover.value = null;
      this.set(t);
    });
  }

  pause(): void {
    this.playing.value = false;
  }

  play(): void {
    if (this.playing.peek()) return;
    if (this.now.peek() >= this.end.peek()) this.set(this.start.peek());
    this.playing.value = true;
    this.rest = 0;
    let last: number | null = null;
    const tick = (stamp: number) => {
      if (!this.playing.peek()) return;
      this.advance(last === null ? 0 : Math.min((stamp - last) / 1000, 0.25));
      last = stamp;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  toggle(): void {
    if (this.playing.peek()) this.pause();
    else this.play();
  }

  /** Let seconds pass; at the end the motion rests a moment and begins again. */
  advance(seconds: number): void {
    if (this.now.peek() >= this.end.peek()) {
      this.rest += seconds;
      if (this.rest > 0.9) {
        this.rest = 0;
        this.set(this.start.peek());
      }
    } else this.set(this.now.peek() + seconds * this.speed.peek());
  }
}
