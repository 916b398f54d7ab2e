// The icons: lines of one weight on a grid of 16.

const paths = {
  runs: "M2.500 4h11M2.500 8h11M2.500 12h7",
  plus: "M8 3v10M3 8h10",
  key: "M10.500 9.500a3 3 0 1 0-2.600-1.500L3 13h2.500v-1.500H7V10l.9-.9a3 3 0 0 0 2.600.4z",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.400 3.400l1 1M11.600 11.600l1 1M3.400 12.600l1-1M11.600 4.400l1-1",
  moon: "M13 9.500A5.500 5.500 0 0 1 6.500 3 5.500 5.500 0 1 0 13 9.500z",
  half: "M8 2.500a5.500 5.500 0 1 0 0 11zM8 2.500a5.500 5.500 0 0 1 0 11M8 5h4.500M8 8h5.500M8 11h4.500",
  help: "M6 6a2 2 0 1 1 2.800 1.800c-.6.3-.8.700-.8 1.200v.5M8 12v.2",
  copy: "M5.500 5.500h7v8h-7zM3.500 10.500v-8h7",
  check: "M3 8.500l3.200 3.200L13 5",
  download: "M8 2.500v7.500M5 7.500L8 10.500l3-3M3 13.500h10",
  close: "M4 4l8 8M12 4l-8 8",
  stop: "M4.500 4.500h7v7h-7z",
  again: "M13 8a5 5 0 1 1-1.500-3.600M13 2.500v3h-3",
  fork: "M5 3v10M5 9c0-3 6-1 6-5M5 2.500v.1M11 3v.1M5 13.500v-.1",
  seal: "M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM5.500 8l1.800 1.800L10.500 6.500",
  search: "M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10 10l3.500 3.500",
  tool: "M9.500 3.500a3 3 0 0 1 3.600 3.600l-1.600-.6-.9-.9zM10 7l-6 6-1-1 6-6M9.500 3.500L11 5",
  down: "M8 3v9.500M4.500 9L8 12.500 11.500 9",
  chevron: "M6 4l4 4-4 4",
  menu: "M2.500 4.500h11M2.500 8h11M2.500 11.500h11",
  link: "M6.500 9.500l3-3M7 4.500l1.500-1.500a2.800 2.800 0 0 1 4 4L11 8.500M9 11.500L7.500 13a2.800 2.800 0 0 1-4-4L5 7.500",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
