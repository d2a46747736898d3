// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The JSON of documents: maps, lists, strings, numbers, booleans. Depth is bounded. */
public final class Json {
  private static final int MAX_DEPTH = 100;
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** @throws IllegalArgumentException names the place */
  public static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value(0);
    json.blank();
    if (json.at != text.length()) {
      throw json.bad("the end");
    }
    return value;
  }

  public static String write(Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out);
    return out.toString();
  }

  private IllegalArgumentException bad(String expected) {
    return new IllegalArgumentException("JSON, character " + at + ": expected " + expected);
  }

  private void blank() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private boolean take(char c) {
    blank();
    if (at < text.length() && text.charAt(at) == c) {
      at++;
      return true;
    }
    return false;
  }

  private Object value(int depth) {
    if (depth > MAX_DEPTH) {
      throw bad("at most " + MAX_DEPTH + " levels");
    }
    if (take('{')) {
      return object(depth);
    }
    if (take('[')) {
      return array(depth);
    }
    if (take('"')) {
      return string();
    }
    for (String word : new String[] {"true", "false", "null"}) {
      if (text.startsWith(word, at)) {
        at += word.length();
        return word.equals("null") ? null : Boolean.valueOf(word);
      }
    }
    int start = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    if (at == start) {
      throw bad("a value");
    }
    try {
      return new BigDecimal(text.substring(start, at));
    } catch (NumberFormatException e) {
      at = start;
      throw bad("a number");
    }
  }

  private Map<String, Object> object(int depth) {
    Map<String, Object> out = new LinkedHashMap<>();
    if (take('}')) {
      return out;
    }
    do {
      if (!take('"')) {
        throw bad("a key");
      }
      String key = string();
      if (!take(':')) {
        throw bad("':'");
      }
      out.put(key, value(depth + 1));
    } while (take(','));
    if (!take('}')) {
      throw bad("',' or '}'");
    }
    return out;
  }

  private List<Object> array(int depth) {
    List<Object> out = new ArrayList<>();
    if (take(']')) {
      return out;
    }
    do {
      out.add(value(depth + 1));
    } while (take(','));
    if (!take(']')) {
      throw bad("',' or ']'");
    }
    return out;
  }

  private String string() {
    StringBuilder out = new StringBuilder();
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        return out.toString();
      }
      if (c != '\\') {
        out.append(c);
        continue;
      }
      char escaped = at < text.length() ? text.charAt(at++) : 0;
      int simple = "\"\\/bfnrt".indexOf(escaped);
      if (simple >= 0) {
        out.append("\"\\/\b\f\n\r\t".charAt(simple));
      } else if (escaped == 'u' && at + 4 <= text.length()) {
        out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
        at += 4;
      } else {
        throw bad("an escape");
      }
    }
    throw bad("the end of a string");
  }

  private static void write(Object value, StringBuilder out) {
    if (value == null || value instanceof Boolean || value instanceof Number) {
      out.append(value);
    } else if (value instanceof Map<?, ?> map) {
      String separator = "{";
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        out.append(separator);
        quote(String.valueOf(entry.getKey()), out);
        out.append(':');
        write(entry.getValue(), out);
        separator = ",";
      }
      out.append(map.isEmpty() ? "{}" : "}");
    } else if (value instanceof Iterable<?> list) {
      out.append('[');
      String separator = "";
      for (Object item : list) {
        out.append(separator);
        write(item, out);
        separator = ",";
      }
      out.append(']');
    } else if (value instanceof Document document) {
      write(document.toMap(), out);
    } else if (value instanceof DocumentEnum choice) {
      out.append(choice.number());
    } else if (value instanceof byte[] bytes) {
      quote(Base64.getEncoder().encodeToString(bytes), out);
    } else {
      quote(value.toString(), out);
    }
  }

  private static void quote(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < 0x20) {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  // For the generated documents.
  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Object value) {
    return value == null ? Map.of() : (Map<String, Object>) value;
  }

  static <T> List<T> list(Object value, Function<Object, T> item) {
    return value == null ? List.of() : ((List<?>) value).stream().<T>map(item).toList();
  }

  static <T> Map<String, T> map(Object value, Function<Object, T> item) {
    Map<String, T> out = new LinkedHashMap<>();
    object(value).forEach((k, v) -> out.put(k, item.apply(v)));
    return out;
  }

  static String text(Object value) {
    return value == null ? "" : (String) value;
  }

  static boolean bool(Object value) {
    return Boolean.TRUE.equals(value);
  }

  static byte[] bytes(Object value) {
    return value == null ? new byte[0] : Base64.getDecoder().decode((String) value);
  }

  static double number(Object value) {
    return value == null ? 0 : new BigDecimal(value.toString()).doubleValue();
  }

  static long integer(Object value) {
    return value == null ? 0 : new BigDecimal(value.toString()).toBigInteger().longValue();
  }

  static Object unsigned(long value) {
    return value >= 0 ? (Object) value : new BigInteger(Long.toUnsignedString(value));
  }

  static <E extends Enum<E> & DocumentEnum> E choice(E[] values, String prefix, Object value) {
    for (E candidate : values) {
      if (value instanceof String name ? name.equals(prefix + candidate.name())
          : value != null && integer(value) == candidate.number()) {
        return candidate;
      }
    }
    return values[0];
  }

  /** Leaves defaults out, so that an older library can read the document. */
  static void put(Map<String, Object> map, String key, Object value) {
    boolean isDefault = value == null || value.equals("") || value.equals(false)
        || value instanceof Number n && n.doubleValue() == 0 || value instanceof List<?> l && l.isEmpty()
        || value instanceof Map<?, ?> m && m.isEmpty() || value instanceof byte[] b && b.length == 0
        || value instanceof DocumentEnum e && e.number() == 0;
    if (!isDefault) {
      map.put(key, value);
    }
  }
}
